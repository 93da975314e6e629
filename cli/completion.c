/* Completion scripts for three shells, from the tables of options.c. */
#include "app.h"

#include <string.h>

static void words(struct cli_out *o, const char *choices, const char *between)
{
    while (choices && *choices) {
        size_t n = strcspn(choices, "|");
        cli_out_bytes(o, choices, n);
        choices += n;
        if (*choices) {
            cli_out_text(o, between);
            choices++;
        }
    }
}

static bool names_a_file(const struct cli_option *o)
{
    return o->value && (strstr(o->value, "FILE") || strstr(o->value, "PATH") || strstr(o->value, "DIR") ||
                        strstr(o->value, ".npy"));
}

static void verb_names(struct cli_out *o)
{
    for (int i = 0; i < CLI_VERB_COUNT; i++) cli_out_format(o, "%s%s", i ? " " : "", cli_verbs[i].name);
}

static void bash(struct cli_out *o)
{
    cli_out_text(o, "# bash completion for tenon\n_tenon()\n{\n"
                    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb='' i\n"
                    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                    "        case ${COMP_WORDS[i]} in -*) ;; *) verb=${COMP_WORDS[i]}; break ;; esac\n    done\n"
                    "    case $prev in\n");
    for (size_t i = 0; i < cli_option_count; i++) {
        const struct cli_option *opt = &cli_options[i];
        if (!opt->value) continue;
        cli_out_format(o, "    --%s) ", opt->name);
        if (opt->choices) {
            cli_out_text(o, "COMPREPLY=($(compgen -W '");
            words(o, opt->choices, " ");
            cli_out_text(o, "' -- \"$cur\")); return ;;\n");
        } else {
            cli_out_text(o, names_a_file(opt) ? "COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n" : "return ;;\n");
        }
    }
    cli_out_text(o, "    esac\n    case $cur in\n    -*)\n        case $verb in\n");
    for (int v = 0; v < CLI_VERB_COUNT; v++) {
        cli_out_format(o, "        %s) COMPREPLY=($(compgen -W '", cli_verbs[v].name);
        for (size_t i = 0; i < cli_option_count; i++) {
            if (cli_option_takes(&cli_options[i], v)) cli_out_format(o, "--%s ", cli_options[i].name);
        }
        cli_out_text(o, "' -- \"$cur\")) ;;\n");
    }
    cli_out_text(o, "        esac ;;\n    *)\n        if [ -z \"$verb\" ] || [ \"$verb\" = help ]; then\n"
                    "            COMPREPLY=($(compgen -W '");
    verb_names(o);
    cli_out_text(o, "' -- \"$cur\"))\n        elif [ \"$verb\" = records ]; then\n"
                    "            COMPREPLY=($(compgen -W 'list show export' -- \"$cur\"))\n"
                    "        else\n            COMPREPLY=($(compgen -f -- \"$cur\"))\n        fi ;;\n    esac\n}\n"
                    "complete -o filenames -F _tenon tenon\n");
}

/* Text inside single quotes of a zsh specification: colons, brackets and quotes are special. */
static void zsh_text(struct cli_out *o, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'') {
            cli_out_text(o, "'\\''");
        } else {
            if (strchr(":[]\\", *text)) cli_out_text(o, "\\");
            cli_out_bytes(o, text, 1);
        }
    }
}

static void zsh_option(struct cli_out *o, const struct cli_option *option)
{
    cli_out_format(o, "        '%s--%s[", option->kind == CLI_LIST ? "*" : "", option->name);
    zsh_text(o, option->help);
    cli_out_text(o, "]");
    if (option->value) {
        cli_out_text(o, ":");
        zsh_text(o, option->value);
        cli_out_text(o, ":");
        if (option->choices) {
            cli_out_text(o, "(");
            words(o, option->choices, " ");
            cli_out_text(o, ")");
        } else if (names_a_file(option)) {
            cli_out_text(o, "_files");
        }
    }
    cli_out_text(o, "' \\\n");
}

static void zsh(struct cli_out *o)
{
    cli_out_text(o, "#compdef tenon\n_tenon() {\n    local verb\n"
                    "    verb=${${words[2,CURRENT-1]}[(r)[a-z]*]}\n    case $verb in\n");
    for (int v = 0; v < CLI_VERB_COUNT; v++) {
        cli_out_format(o, "    %s) _arguments \\\n", cli_verbs[v].name);
        for (size_t i = 0; i < cli_option_count; i++) {
            if (cli_option_takes(&cli_options[i], v)) zsh_option(o, &cli_options[i]);
        }
        if (v == CLI_HELP || v == CLI_RECORDS) {
            cli_out_text(o, "        '*::operand:(");
            if (v == CLI_HELP) verb_names(o);
            cli_out_text(o, v == CLI_HELP ? ")' ;;\n" : "list show export)' ;;\n");
        } else {
            cli_out_text(o, "        '*::operand:_files' ;;\n");
        }
    }
    cli_out_text(o, "    *) compadd -- ");
    verb_names(o);
    cli_out_text(o, " ;;\n    esac\n}\n_tenon \"$@\"\n");
}

/* Single-quoted text of fish knows \' and \\ . */
static void fish_text(struct cli_out *o, const char *text)
{
    cli_out_text(o, "'");
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\') cli_out_text(o, "\\");
        cli_out_bytes(o, text, 1);
    }
    cli_out_text(o, "'");
}

static void fish(struct cli_out *o)
{
    cli_out_text(o, "# fish completion for tenon\n");
    for (int v = 0; v < CLI_VERB_COUNT; v++) {
        cli_out_format(o, "complete -c tenon -n __fish_use_subcommand -f -a %s -d ", cli_verbs[v].name);
        fish_text(o, cli_verbs[v].summary);
        cli_out_text(o, "\n");
    }
    for (size_t i = 0; i < cli_option_count; i++) {
        const struct cli_option *opt = &cli_options[i];
        cli_out_text(o, "complete -c tenon");
        if (!cli_option_is_common(opt)) {
            cli_out_text(o, " -n '__fish_seen_subcommand_from");
            for (int v = 0; v < CLI_VERB_COUNT; v++) {
                if (cli_option_takes(opt, v)) cli_out_format(o, " %s", cli_verbs[v].name);
            }
            cli_out_text(o, "'");
        }
        cli_out_format(o, " -l %s%s -d ", opt->name, !opt->value ? "" : names_a_file(opt) ? " -r -F" : " -x");
        fish_text(o, opt->help);
        if (opt->choices) {
            cli_out_text(o, " -a '");
            words(o, opt->choices, " ");
            cli_out_text(o, "'");
        }
        cli_out_text(o, "\n");
    }
    cli_out_text(o, "complete -c tenon -n '__fish_seen_subcommand_from help' -f -a '");
    verb_names(o);
    cli_out_text(o, "'\ncomplete -c tenon -n '__fish_seen_subcommand_from records' -f -a 'list show export'\n");
}

void cli_completion(struct cli_out *o, const char *shell)
{
    if (strcmp(shell, "bash") == 0) {
        bash(o);
    } else if (strcmp(shell, "zsh") == 0) {
        zsh(o);
    } else {
        fish(o);
    }
}
