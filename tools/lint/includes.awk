# Layers are folders and includes point only upwards in the list. Reads src files, prints findings (see run).
BEGIN {
    n = split("base package describe kernel tensor net ops exec graph text media family task record provider.h plan session provider qualify api", name, " ")
    for (i = 1; i <= n; i++) level[name[i]] = i
    split("float.h inttypes.h limits.h math.h stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h", list, " ")
    for (i in list) plain[list[i]] = 1
}
function layer(path,  parts) {
    split(path, parts, "/")
    return parts[1]
}
function finding(rule, subject, text) { print rule "\t" FILENAME "\t" FNR "\t" subject "\t" text }
/^[ \t]*#[ \t]*include/ {
    own = layer(substr(FILENAME, 5))
    if (match($0, /"[^"]+"/)) {
        target = substr($0, RSTART + 1, RLENGTH - 2)
        theirs = layer(target)
        if (target == "tenon/tenon.h") next
        if (!(theirs in level)) { finding("layer", target, "not a path from src/"); next }
        if (level[theirs] > level[own]) finding("layer", target, own " may not include " theirs)
        # Kernels compute; they know neither files nor graphs.
        else if (own == "kernel" && theirs != "kernel" && theirs != "base" && target != "describe/pooling.h" && target != "describe/activation.h")
            finding("layer", target, "kernels include base, describe/pooling.h and describe/activation.h alone")
    } else if (match($0, /<[^>]+>/)) {
        target = substr($0, RSTART + 1, RLENGTH - 2)
        if (target in plain) next
        if (FILENAME ~ /^src\/base\/os_[a-z]+\.[ch]$/) next
        finding("system_header", target, "only C11 headers; POSIX lives in src/base/os_*")
    }
}
