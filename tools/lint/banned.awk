# Calls that a library must not make. Input: strip.awk in mode "code".
BEGIN {
    add("malloc calloc realloc free aligned_alloc strdup strndup alloca", "memory comes from base/alloc.h")
    add("qsort bsearch_s", "qsort allocates behind our back; sort with package/sort.h or in place")
    add("printf vprintf fprintf vfprintf puts fputs putchar fputc putc fwrite perror fopen fdopen freopen", "the library never prints or opens streams")
    add("exit _exit _Exit abort quick_exit atexit at_quick_exit assert raise signal", "failures are returned")
    add("getenv secure_getenv setenv putenv system popen", "the library reads no environment and starts nothing")
    add("strcpy strcat sprintf vsprintf gets strtok sscanf scanf strncpy strncat", "unbounded or unterminated text")
    add("atoi atol atoll atof strtod strtof strtold strtol strtoul strtoll strtoull", "depends on the locale or hides errors; use base/json.h")
    add("setlocale localeconv localtime gmtime ctime asctime strftime rand srand", "process-wide state")
    add("setjmp longjmp sigsetjmp siglongjmp", "no jumps across functions")
}
function add(words, why,  list, i) {
    split(words, list, " ")
    for (i in list) reason[list[i]] = why
}
{
    at = index($0, ":")
    file = substr($0, 1, at - 1)
    rest = substr($0, at + 1)
    at = index(rest, ":")
    line = substr(rest, 1, at - 1)
    text = substr(rest, at + 1)
    if (text ~ /^[ \t]*#[ \t]*include/) next
    before = ""
    while (match(text, /[A-Za-z_][A-Za-z_0-9]*/)) {
        word = substr(text, RSTART, RLENGTH)
        before = before substr(text, 1, RSTART - 1)
        text = substr(text, RSTART + RLENGTH)
        member = before ~ /(\.|->)[ ]*$/ || before ~ /\([ ]*\*[ ]*$/
        if ((word in reason) && !member && text ~ /^[ ]*\(/)
            print "banned\t" file "\t" line "\t" word "\t" reason[word]
        before = before word
    }
}
