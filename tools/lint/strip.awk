# Blanks comments (mode "code" also string and character literals) and keeps every line's number and length.
# Mode "strings" keeps string literals alone. Lines after a backslash-newline inside a literal are not handled: the house
# style has none. Use: awk -v mode=code -f strip.awk FILE...; prints FILE:LINE:TEXT.
FNR == 1 { state = "" }
{
    out = ""
    n = length($0)
    for (i = 1; i <= n; i++) {
        c = substr($0, i, 1)
        two = substr($0, i, 2)
        keep = (state == "" && mode == "code") ? c : " "
        if (state == "comment") {
            if (two == "*/") { state = ""; i++; keep = "  " }
        } else if (state == "\"" || state == "'") {
            if (mode == "strings" && state == "\"") keep = c
            if (c == "\\") { i++; keep = keep (mode == "strings" && state == "\"" ? substr($0, i, 1) : " ") }
            else if (c == state) { state = ""; keep = mode == "strings" ? "\"" : c }
        } else if (two == "/*") { state = "comment"; i++; keep = "  " }
        else if (two == "//") { break }
        else if (c == "\"" || c == "'") { state = c; keep = (mode == "code" || c == "\"") ? c : " " }
        out = out keep
    }
    if (state == "\"" || state == "'") state = ""
    print FILENAME ":" FNR ":" out
}
