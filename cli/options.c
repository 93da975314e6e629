#include "options.h"

#include "memory.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the tables ----------------------------------------------------------------------------------------------- */

#define SEVERAL SIZE_MAX

const struct cli_verb cli_verbs[CLI_VERB_COUNT] = {
    [CLI_INSPECT] = {"inspect", "PKG", 1, 1, "show what a package is, and from which evidence",
        "Reads headers and small documents only. Shows the packaging convention and why it was recognised, the "
        "variants, components and where each fact came from, tokenizer, module chain, prompts, tensors, identities, "
        "and every problem found. A package that tenon cannot run can still be inspected.\n\n"
        "With --verify every byte is read: the closure and weights identities are filled in, and damaged files "
        "end in exit code 3.",
        "tenon inspect ./model\ntenon inspect ./model --verify --json"},
    [CLI_DESCRIBE] = {"describe", "PKG", 1, 1, "write down what a package does, as documents that can replace its own",
        "Prints inference_metadata.yaml, the ONNX inference-metadata form, and tenon_package.json, which holds what that "
        "form cannot say: module chain, prompts, tokenizer, the family's parameters. With --output both are put into a "
        "folder. Beside the weights they replace config.json, modules.json and the like: the package runs from them "
        "alone, with the same plan fingerprint and the same numbers. What could not be found out stands under "
        "/undetermined with the reason.\n\n"
        "A package that states its contract itself gets that contract printed.",
        "tenon describe ./model\ntenon describe ./model --output ./described --provenance\n"
        "tenon describe ./model --json"},
    [CLI_VALIDATE] = {"validate", "FILE|PKG|-", 1, 1, "check a metadata document, alone or with its package",
        "A document (inference_metadata.yaml or .json, tenon_package.json, execution_hints.json) is checked alone: shape, "
        "references, types and ranks, state, effects, capabilities. For a package its artifacts must also exist, stay "
        "inside, and have the ports that the document declares. All problems are listed, each with its JSON pointer. "
        "Not compared: the values of weights, this machine, and what a request would ask for; `tenon check` does the latter two. "
        "Exit code 0: valid; 3: not.\n\n"
        "A file is a document when its name ends in .yaml, .yml or .json. With - the document comes from standard input, in "
        "either form: JSON when it begins with { or [, else YAML; which of the documents it is follows from its members.",
        "tenon validate ./inference_metadata.yaml\ntenon validate ./model --json\n"
        "tenon validate - <./document.yaml"},
    [CLI_CHECK] = {"check", "PKG", 1, 1, "say whether a task can run here, and every reason why not",
        "Assesses each provider without reading weights. Exit code 0 means that a provider is eligible; 3 that none "
        "is. All blockers are listed, not the first.\n\n"
        "Without --task: every task that the package can serve with the evidence for it, and for each other task the "
        "reasons why not. Exit code 0 means that there is one.",
        "tenon check ./model\ntenon check ./model --task embedding.dense"},
    [CLI_PLAN] = {"plan", "PKG", 1, 1, "decide exactly how a task will run, without running it",
        "Prints the plan: provider, family, tensor binding, numeric policy, options with their origin, and the memory "
        "it will take, computed from headers alone. The JSON form can be kept, reviewed and given to other verbs "
        "with --plan; it is refused as stale when the package or this build no longer match it.",
        "tenon plan ./model --task embedding.dense\n"
        "tenon plan ./model --task embedding.dense --numeric bf16 --json > plan.json"},
    [CLI_EMBED] = {"embed", "PKG [TEXT...]", 1, SEVERAL, "turn texts into vectors",
        "Texts are the operands, or the lines of --file (LF or CRLF; an empty line is an empty text; a byte order mark "
        "at the start of the file is dropped). There must be one or the other: standard input is read only when "
        "asked for with `--file -`.\n\n"
        "With --jsonl each line of the file is a JSON string, or an object with \"text\" and an optional \"id\" (string or "
        "number) that is repeated in the output; blank lines are skipped. A \"pair\", the text that follows, "
        "is for classify and tokenize; elsewhere such a line fails. Other members are ignored by every verb.\n\n"
        "A text that cannot be embedded fails alone: its error stands in its place and the exit code is 6. With "
        "--atomic it fails the whole request. The numbers do not depend on what else is in the request, on its "
        "order, or on the number of threads.\n\n"
        "A package may give one dense vector, a sparse one, or several vectors per text; --task says which is meant where it "
        "is not the only one. Several vectors need --role query or document.",
        "tenon embed ./model \"A sentence.\" \"Another one.\"\n"
        "tenon embed ./model --file corpus.txt --npy corpus.npy\n"
        "tenon embed ./model --file questions.jsonl --jsonl --role query --json"},
    [CLI_RERANK] = {"rerank", "PKG --query TEXT [DOC...]", 1, SEVERAL, "order documents by their relevance to a query",
        "Documents come as texts do for embed: operands, or the lines of --file, with --jsonl as {\"id\", \"text\"}. Each is "
        "read together with the query; what is longer than the model takes is cut, the longest text first, and marked "
        "with +.\n\n"
        "The best comes first; equal scores stand in the order of the documents. A score is what the package says: a "
        "probability, or the head's own number; --scores asks for one of them, and --json gives the head's numbers beside.",
        "tenon rerank ./model --query \"How far is the moon?\" \"384,400 km.\" \"Made of cheese.\"\n"
        "tenon rerank ./model --query \"a question\" --file documents.jsonl --jsonl --top-k 10 --json"},
    [CLI_CLASSIFY] = {"classify", "PKG [TEXT...]", 1, SEVERAL, "put labels on texts",
        "Texts come as for embed. Labels stand best first with their scores: probabilities, or of a regression the value. "
        "Where labels exclude one another only the best is shown unless --top-k or --threshold asks for more; where "
        "several may hold, those of at least 0.5. --json gives the head's own numbers beside.",
        "tenon classify ./model \"I like it.\"\ntenon classify ./model --file mails.jsonl --jsonl --top-k 3 --json"},
    [CLI_TAG] = {"tag", "PKG [TEXT...]", 1, SEVERAL, "label the parts of texts",
        "Texts come as for embed. Each span has a label, its probability, and its place in the text in characters; --json has "
        "bytes and tokens too. With --aggregate none every token stands by itself; simple joins neighbours of one entity; "
        "first, average and max decide by word before they join. Spans of the label O are left out.",
        "tenon tag ./model --aggregate simple \"Ada Lovelace lived in London.\""},
    [CLI_FILL] = {"fill", "PKG [TEXT...]", 1, SEVERAL, "predict the tokens that masks stand for",
        "Texts come as for embed, each with one mask token or more, written as the package has it ([MASK], <mask>). For each "
        "mask the likeliest tokens stand best first, five unless --top-k asks for another number, with their probabilities and "
        "the text that they make. A text without a mask fails.",
        "tenon fill ./model \"Paris is the [MASK] of France.\"\ntenon fill ./model --file cloze.jsonl --jsonl --top-k 1 --json"},
    [CLI_ANSWER] = {"answer", "PKG --question TEXT --context TEXT", 1, 1, "find the parts of a text that answer a question",
        "The context is one text: --context, or the whole of --file. With --jsonl each line of the file is a context of its "
        "own, as {\"id\", \"text\"} or a JSON string, and all are asked the same. A context that is longer than the model takes is "
        "read in windows that overlap, and nothing of it is cut; a question that is too long is refused.\n\n"
        "Answers stand best first with their place in the context in characters; --json has bytes and the windows too. With "
        "--no-answer \"no answer\" is one of them.",
        "tenon answer ./model --question \"Where was she born?\" --context \"Ada was born in London.\"\n"
        "tenon answer ./model --question \"What is new?\" --file report.txt --top-k 3 --no-answer --json"},
    [CLI_TENSOR] = {"tensor", "PKG --input NAME=VALUE ...", 1, 1, "call a graph with named tensors",
        "A package that is a graph (an ONNX file) is called as it is: a value for every input that has no default, each a .npy "
        "file, a .json file, or JSON as it stands: lists nested to the input's rank, or {\"dtype\", \"shape\", \"data\"}; of a "
        "sequence {\"sequence\"}, of a map {\"keys\", \"values\"}. Names, types, ranks and dimensions are checked before "
        "anything runs; all problems are listed. `tenon plan PKG --task tensor` shows the ports.\n\n"
        "With --output-dir each output is a file DIR/NAME.npy, strings, sequences and maps NAME.json; characters that do not "
        "belong in a file's name become _, and --json says which file is which output. Without it --json holds the values.",
        "tenon tensor ./model.onnx --input x=x.npy --output-dir out\n"
        "tenon tensor ./model --variant detector.onnx --input 'scale=[1, 2]' --input image=image.npy --json"},
    [CLI_GRAPH] = {"graph", "PKG", 1, 1, "show the graph of a package that is one",
        "Values with their types, and nodes in the order in which they run, as they stand in the file. With --dot in the "
        "language of Graphviz.",
        "tenon graph ./model.onnx\ntenon graph ./model.onnx --dot | dot -Tsvg > model.svg"},
    [CLI_RUN] = {"run", "PKG --task TASK --input FILE", 1, 1, "run any task with a request in JSON",
        "The request is what `tenon tasks` describes for the task, as one JSON object; a member that the task does not have "
        "is refused. With --json the result is one document: what the task says as a whole, an object for each item with "
        "its index and id, and the account.",
        "tenon run ./model --task rerank --input request.json --json"},
    [CLI_TOKENIZE] = {"tokenize", "PKG [TEXT...]", 1, SEVERAL, "show the tokens that the package's tokenizer makes",
        "Texts come as for embed. Ids, type ids, attention mask, byte offsets into the text and vocabulary entries. Nothing "
        "is truncated unless --max-tokens asks for it.",
        "tenon tokenize ./model \"unaffable\"\ntenon tokenize ./model \"A question?\" --pair \"An answer.\" --json"},
    [CLI_COMPARE] = {"compare", "PKG --providers A,B --input ...", 1, 1, "hold the answers of two providers against each other",
        "Asks both the same and shows for each output the largest absolute and relative difference, the cosine, how often the "
        "largest entry of a row is the same, and numbers that are not finite. The second provider is the reference. Exit code 0: "
        "every output is inside its tolerance; 1: one is not.\n\n"
        "Behind a name may stand options of that side, so that one provider can be compared with itself: native:without=all is "
        "without rewritings of a graph, native:numeric=bf16, native:threads=1; several are separated by colons, parts of a value "
        "by +.\n\n"
        "A package that is a graph takes --input NAME=VALUE as `tenon tensor` does; any other task --task and --input FILE as "
        "`tenon run` does. With --layers the values inside the graph are compared too, and the first that differs is shown with "
        "the operator and the rewriting that made it. With --record the result is kept as evidence: qualified by a reference, "
        "which is the other provider.",
        "tenon compare ./model.onnx --providers native,onnxruntime --input image=image.npy --layers\n"
        "tenon compare ./model.onnx --providers native,native:without=all --input image=image.npy --json\n"
        "tenon compare ./model --task classify.text --providers native,native:numeric=bf16 --input request.json"},
    [CLI_QUALIFY] = {"qualify", "PKG", 1, 1, "test a package on this machine and keep a record",
        "Runs the invariants of the task and, with --golden, compares against answers of an independent "
        "implementation. The record goes into the state folder and names everything that was compared. The exit code "
        "is 1 when the suite found a failure.",
        "tenon qualify ./model --task embedding.dense --golden golden.json"},
    [CLI_RECORDS] = {"records", "[list | show ID | why ID [PKG] | withdraw ID | export]", 0, 3,
        "list, show, explain, withdraw or export the records of qualification",
        "Records live in the state folder. `list` is the default; `export` prints all of them with their provenance "
        "as one JSON document.\n\n"
        "`why` shows what a record rests on, what of that is still so in this build on this machine, and which evidence fell with "
        "the rest; with a package, of which every byte is read, also what is still so of that. `withdraw` says that a record no "
        "longer counts: --reason is kept with it, nothing is deleted, and a later qualification replaces it.",
        "tenon records\ntenon records show 1f0c\ntenon records why 1f0c ./model\n"
        "tenon records withdraw 1f0c --reason \"the golden was made from another revision\""},
    [CLI_DOCTOR] = {"doctor", "", 0, 0, "show what this build and this machine offer",
        "Processor features, kernels that would be chosen, providers and why one is missing, limits, folders.\n\n"
        "With --capabilities: the list of what packages may require of their runtime, and which of it this build offers.",
        "tenon doctor\ntenon doctor --capabilities --json"},
    [CLI_FAMILIES] = {"families", "", 0, 0, "list the architectures that run natively, and which configurations",
        "Each family with the configuration fields it reads, their defaults and the values it accepts, and its tensors.",
        "tenon families --json"},
    [CLI_TASKS] = {"tasks", "", 0, 0, "list the task contracts",
        "Each task with its version, what a request and a result mean, and its options.", "tenon tasks"},
    [CLI_SCHEMA] = {"schema", "[NAME]", 0, 1, "print the JSON Schema of a document that tenon reads or writes",
        "Names: description (inference_metadata.yaml), package (tenon_package.json), hints (execution_hints.json), plan, "
        "record, error; without a name the list of them. With --json the schema itself, draft 2020-12, always the same "
        "bytes; otherwise its types as tables.",
        "tenon schema\ntenon schema plan\ntenon schema description --json > inference_metadata.schema.json"},
    [CLI_HELP] = {"help", "[VERB]", 0, 1, "explain tenon, or one verb",
        "Everything printed here comes from the table that also parses the command line.",
        "tenon help embed\ntenon help --man > tenon.1\ntenon help --completion bash > tenon.bash"},
};

#define V(name) (1u << CLI_##name)
#define EVERY ((1u << CLI_VERB_COUNT) - 1)
#define PLANNED (V(CHECK) | V(PLAN) | V(QUALIFY) | V(RUN) | V(COMPARE))
#define TEXTS (V(EMBED) | V(TOKENIZE) | V(RERANK) | V(CLASSIFY) | V(TAG) | V(FILL))
#define CUTTING (V(EMBED) | V(RERANK) | V(CLASSIFY) | V(TAG) | V(FILL))
#define AT(member) offsetof(struct cli_values, member)
#define FLAG(name, member, verbs, help) {name, CLI_FLAG, NULL, NULL, 0, 0, verbs, AT(member), help}
#define STRING(name, member, value, verbs, help) {name, CLI_STRING, value, NULL, 0, 0, verbs, AT(member), help}
#define CHOICE(name, member, choices, verbs, help) {name, CLI_CHOICE, choices, choices, 0, 0, verbs, AT(member), help}
#define COUNT(name, member, value, least, most, verbs, help)                                       \
    {name, CLI_COUNT, value, NULL, least, most, verbs, AT(member), help}

const struct cli_option cli_options[] = {
    FLAG("json", json, EVERY, "print one JSON document on standard output, errors included"),
    FLAG("quiet", quiet, EVERY, "no progress, notes or footers; results and errors only"),
    STRING("variant", variant, "ID", EVERY, "which of several alternatives in the package to use (inspect lists them)"),
    STRING("provider", provider, "A[,B]", EVERY, "providers in order of preference (doctor lists them)"),
    STRING("device", device, "NAME", EVERY, "where to run: cpu, gpu or npu, with :INDEX for one of several"),
    CHOICE("placement", placement, "strict|split", EVERY, "all of it on that device, or parts on the CPU"),
    CHOICE("numeric", numeric, "f32|bf16", EVERY, "arithmetic; f32 unless asked"),
    CHOICE("fallback", fallback, "plan|load", EVERY,
           "when the next provider may stand in for one that cannot: where planning finds that out, or also where loading does"),
    CHOICE("precision", precision, "keep|change", EVERY, "whether another arithmetic may stand in for one that a provider lacks"),
    STRING("allow-code", allow_code, "SHA256[,SHA256]", EVERY, "code that may run, by the digests of its files; none unless asked"),
    COUNT("threads", threads, "N", 1, 1024, EVERY, "most threads to use; as many as processors unless asked"),
    {"memory-limit", CLI_SIZE, "BYTES", NULL, 1, UINT64_MAX, EVERY, AT(memory_limit),
     "most memory to take, e.g. 512MiB or 2GB; plan and check only report it"},
    STRING("plan", plan, "FILE", EVERY, "use the plan that `tenon plan --json` wrote instead of making one"),
    STRING("require-level", require_level, "LEVEL", EVERY, "least evidence that is required, e.g. reference_qualified"),
    STRING("without", without, "PATCH[,PATCH]", EVERY, "rewritings of a graph to leave out, by their names in its plan; all for every one"),
    STRING("hint", hint, "JSON", EVERY,
           "execution hints of this call, in the form of execution_hints.json; the strongest"),
    STRING("hints", hints, "FILE", EVERY, "your own file of execution hints; stronger than those of a package"),
    {"descriptive", CLI_LIST, "POINTER", NULL, 0, 0, EVERY, AT(descriptive),
     "assert that an unknown configuration field changes nothing (\"/field\" of config.json, or "
     "\"file.json#/field\"); repeatable, and recorded"},
    FLAG("accept-loss", accept_loss, EVERY,
         "go on although an import drops fields of the package's own document or does not know them; they are listed"),
    COUNT("timeout", timeout_ms, "MS", 1, UINT32_MAX, EVERY, "give up after so many milliseconds, with exit code 4"),
    STRING("cache-dir", cache_dir, "DIR", EVERY,
           "folder for derived files; $XDG_CACHE_HOME/tenon or ~/.cache/tenon unless asked, \"\" for none"),
    STRING("state-dir", state_dir, "DIR", EVERY,
           "folder for records; $XDG_STATE_HOME/tenon or ~/.local/state/tenon unless asked, \"\" for none"),
    FLAG("help", help, EVERY, "explain the verb"),
    FLAG("version", version, EVERY, "print the version"),

    STRING("output", output, "DIR", V(DESCRIBE), "put the two documents into this folder instead of printing them"),
    CHOICE("format", format, "yaml|json", V(DESCRIBE), "form of the inference-metadata document; yaml unless asked"),
    FLAG("provenance", provenance, V(DESCRIBE), "list in tenon_package.json where each value came from"),
    FLAG("verify", verify, V(INSPECT), "read every byte: fill in the closure and weights identities, find damage"),
    FLAG("capabilities", capabilities, V(DOCTOR), "list what packages may require, and what of it is offered"),
    STRING("task", task, "TASK", PLANNED | V(EMBED), "the task, e.g. embedding.dense (tasks lists them)"),
    STRING("golden", golden, "FILE", V(QUALIFY), "answers of an independent implementation to compare with"),
    STRING("file", file, "PATH", TEXTS | V(ANSWER), "read texts from a file, one a line (answer: one context); - is standard input"),
    FLAG("jsonl", jsonl, TEXTS | V(ANSWER), "each line of --file is {\"id\", \"text\"} or a JSON string; classify and tokenize take a \"pair\" with it"),
    STRING("role", role, "NAME", V(EMBED), "name of the package's prompt to put in front, e.g. query"),
    CHOICE("normalize", normalize, "auto|yes|no", V(EMBED), "unit length: as the package says, always, never"),
    COUNT("dimensions", dimensions, "N", 1, UINT32_MAX, V(EMBED), "keep the first N components"),
    CHOICE("truncation", truncation, "auto|longest_first|only_first|only_second|no", CUTTING,
           "what is cut from texts that are too long together: the longest first unless asked; no: such texts fail"),
    CHOICE("side", side, "auto|right|left", CUTTING, "the end that is cut: as the tokenizer says unless asked"),
    CHOICE("truncate", truncate, "yes|no", V(EMBED), "short for --truncation auto or no"),
    FLAG("atomic", atomic, V(EMBED), "one text that fails fails all of them"),
    COUNT("batch", batch, "N", 1, UINT32_MAX, V(EMBED), "most texts per step; chosen by their length unless asked"),
    STRING("npy", npy, "OUT.npy", V(EMBED),
           "write float32 [texts, dimensions] for NumPy; a text that failed is a row of NaN; - is standard output"),
    STRING("query", query, "TEXT", V(RERANK), "what the documents are ranked by"),
    CHOICE("scores", scores, "auto|logit|probability", V(RERANK), "kind of score: as the package says unless asked"),
    COUNT("top-k", top_k, "N", 1, UINT32_MAX, V(RERANK) | V(CLASSIFY) | V(FILL) | V(ANSWER), "only the best N"),
    {"threshold", CLI_NUMBER, "X", NULL, 0, 0, V(CLASSIFY), AT(threshold), "leave out labels whose score is below X"},
    FLAG("text", text, V(EMBED) | V(CLASSIFY), "the input is text, as the plan's task says anyway"),
    FLAG("image", image, V(EMBED) | V(CLASSIFY), "the input is pictures; refused unless the plan's task takes them"),
    CHOICE("aggregate", aggregate, "none|simple|first|average|max", V(TAG), "how tokens become spans; none unless asked"),
    STRING("question", question, "TEXT", V(ANSWER), "what is asked"),
    STRING("context", context, "TEXT", V(ANSWER), "the text in which the answer is looked for"),
    FLAG("no-answer", no_answer, V(ANSWER), "let \"no answer\" be one of the answers"),
    {"input", CLI_LIST, "FILE", NULL, 0, 0, V(RUN) | V(TENSOR) | V(COMPARE), AT(inputs),
     "run: the request as JSON, - is standard input; tensor: NAME=FILE.npy, NAME=FILE.json or NAME=JSON, repeatable; compare: either"},
    STRING("providers", providers, "A,B", V(COMPARE), "the two that are compared, each with :OPTION=VALUE behind it where they differ"),
    FLAG("layers", layers, V(COMPARE), "compare the values inside a graph too, and show the first that differs"),
    {"absolute", CLI_NUMBER, "X", NULL, 0, 0, V(COMPARE), AT(absolute), "difference that is allowed; by the types of the outputs unless asked"},
    {"relative", CLI_NUMBER, "X", NULL, 0, 0, V(COMPARE), AT(relative), "and this part of the reference's number on top of it"},
    FLAG("record", record, V(COMPARE), "keep the result as a record, for which the other provider is the reference"),
    STRING("reason", reason, "TEXT", V(RECORDS), "why a record is withdrawn"),
    STRING("output-dir", output_dir, "DIR", V(TENSOR), "write each output to a file in this folder"),
    STRING("state", state, "DIR", V(TENSOR), "folder that keeps the state which a package declares from call to call"),
    FLAG("optimized", optimized, V(GRAPH), "the graph as it is run, and what was rewritten"),
    FLAG("dot", dot, V(GRAPH), "print the graph in the language of Graphviz"),
    STRING("pair", pair, "TEXT", V(TOKENIZE), "second text of a pair, for each text"),
    FLAG("no-special", no_special, V(TOKENIZE), "without the special tokens around the text"),
    COUNT("max-tokens", max_tokens, "N", 1, UINT32_MAX, V(TOKENIZE), "keep at most N tokens, special ones included"),
    FLAG("man", man, V(HELP), "print the manual page as troff source"),
    CHOICE("completion", completion, "bash|zsh|fish", V(HELP), "print a completion script for a shell"),
};
const size_t cli_option_count = sizeof(cli_options) / sizeof(cli_options[0]);

_Static_assert(sizeof(cli_options) / sizeof(cli_options[0]) <= CLI_OPTIONS_MOST, "cli_values.given has a place per option");

/* ---- values --------------------------------------------------------------------------------------------------- */

bool cli_read_count(const char *text, uint64_t *out)
{
    uint64_t v = 0;
    if (!*text) return false;
    for (; *text; text++) {
        unsigned digit = (unsigned)(unsigned char)*text - '0';
        if (digit > 9 || v > (UINT64_MAX - digit) / 10) return false;
        v = v * 10 + digit;
    }
    *out = v;
    return true;
}

bool cli_read_number(const char *text, double *out)
{
    char *end;
    size_t n = strlen(text);
    if (n == 0 || strspn(text, "0123456789.eE+-") != n) return false; /* no blanks, hexadecimals, "inf" */
    *out = strtod(text, &end); /* numbers stay as they are in "C": main sets the character set alone */
    return !*end && fabs(*out) <= (double)FLT_MAX;
}

bool cli_read_size(const char *text, uint64_t *out)
{
    static const struct {
        const char *unit;
        uint64_t bytes;
    } units[] = {{"", 1},
                 {"B", 1},
                 {"kB", 1000},
                 {"KB", 1000},
                 {"MB", 1000000},
                 {"GB", 1000000000},
                 {"TB", UINT64_C(1000000000000)},
                 {"KiB", UINT64_C(1) << 10},
                 {"MiB", UINT64_C(1) << 20},
                 {"GiB", UINT64_C(1) << 30},
                 {"TiB", UINT64_C(1) << 40}};
    char number[24];
    size_t n = strspn(text, "0123456789");
    if (n == 0 || n >= sizeof(number)) return false;
    memcpy(number, text, n);
    number[n] = 0;
    uint64_t v;
    if (!cli_read_count(number, &v)) return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(text + n, units[i].unit) != 0) continue;
        if (v > UINT64_MAX / units[i].bytes) return false;
        *out = v * units[i].bytes;
        return true;
    }
    return false;
}

static bool is_choice(const char *choices, const char *text)
{
    size_t n = strlen(text);
    for (const char *at = choices; *at; at += strcspn(at, "|"), at += *at == '|') {
        if (strcspn(at, "|") == n && memcmp(at, text, n) == 0) return true;
    }
    return false;
}

/* ---- names ---------------------------------------------------------------------------------------------------- */

enum { NAME_MAX_LENGTH = 40 };

/* Edit distance in which a swap of neighbours counts once (optimal string alignment). */
static unsigned distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    unsigned d[NAME_MAX_LENGTH + 1][NAME_MAX_LENGTH + 1];
    if (n > NAME_MAX_LENGTH || m > NAME_MAX_LENGTH) return NAME_MAX_LENGTH;
    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = (unsigned)(i + j);
                continue;
            }
            unsigned best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    }
    return d[n][m];
}

const char *cli_nearest(const char *name, const char *const *names, size_t count)
{
    const char *best = NULL;
    unsigned least = 3; /* further away than two edits is another word */
    for (size_t i = 0; i < count; i++) {
        unsigned far = distance(name, names[i]);
        bool begins = strlen(name) >= 3 && strncmp(names[i], name, strlen(name)) == 0;
        if (begins && far > 2) far = 2;
        if (far < least && far < strlen(name)) {
            least = far;
            best = names[i];
        }
    }
    return best;
}

enum cli_verb_id cli_verb_of(const char *name)
{
    int i = 0;
    while (i < CLI_VERB_COUNT && strcmp(cli_verbs[i].name, name) != 0) i++;
    return (enum cli_verb_id)i;
}

bool cli_option_takes(const struct cli_option *option, int verb)
{
    return option->verbs >> verb & 1;
}

bool cli_option_is_common(const struct cli_option *option)
{
    return option->verbs == EVERY;
}

bool cli_given(const struct cli_values *values, const char *option)
{
    for (size_t i = 0; i < cli_option_count; i++) {
        if (strcmp(cli_options[i].name, option) == 0) return values->given[i];
    }
    return false;
}

/* ---- parsing -------------------------------------------------------------------------------------------------- */

struct parser {
    int argc, at;
    const char *const *argv;
    struct cli_values *values;
    struct cli_problem *problem;
    const char *verb; /* as written, NULL: none yet */
    bool only_operands;
};

#define SAY(field, ...) ((void)snprintf(field, sizeof(field), __VA_ARGS__))

static bool refuse(struct parser *p, tn_status code, const char *option)
{
    p->problem->code = code;
    p->problem->option = option;
    return false;
}

static bool unknown_option(struct parser *p, const char *name, const char *written)
{
    const char *names[CLI_OPTIONS_MOST];
    for (size_t i = 0; i < cli_option_count; i++) names[i] = cli_options[i].name;
    const char *near = cli_nearest(name, names, cli_option_count);
    SAY(p->problem->message, "there is no option %.80s", written);
    if (near) {
        SAY(p->problem->expected, "perhaps --%s", near);
    } else {
        SAY(p->problem->remedy, "see `tenon help`; put -- before operands that begin with a dash");
    }
    return refuse(p, TN_UNSUPPORTED_OPTION, written);
}

static bool bad_value(struct parser *p, const struct cli_option *o, const char *written, const char *value)
{
    SAY(p->problem->message, "--%s does not take this value", o->name);
    SAY(p->problem->found, "%.100s", value);
    if (o->kind == CLI_CHOICE) SAY(p->problem->expected, "%s", o->choices);
    if (o->kind == CLI_NUMBER) SAY(p->problem->expected, "a number such as 0.5, that a 32-bit float holds");
    if (o->kind == CLI_SIZE) SAY(p->problem->expected, "bytes, or a number with B, kB, MB, GB, TB, KiB, MiB, GiB or TiB");
    if (o->kind == CLI_COUNT) {
        SAY(p->problem->expected, "a whole number from %llu to %llu", (unsigned long long)o->least,
            (unsigned long long)o->most);
    }
    return refuse(p, TN_INVALID_REQUEST, written);
}

static void add_to_list(const char ***list, size_t *count, const char *item)
{
    *list = cli_realloc(*list, cli_product(*count + 1, sizeof(**list)));
    (*list)[(*count)++] = item;
}

static bool store(struct parser *p, const struct cli_option *o, const char *written, const char *value)
{
    char *field = (char *)p->values + o->field;
    uint64_t number = 0;
    switch (o->kind) {
    case CLI_FLAG:
        *(bool *)(void *)field = true;
        return true;
    case CLI_LIST:
        if (o->field == AT(inputs)) add_to_list(&p->values->inputs, &p->values->input_count, value);
        else add_to_list(&p->values->descriptive, &p->values->descriptive_count, value);
        return true;
    case CLI_CHOICE:
        if (!is_choice(o->choices, value)) return bad_value(p, o, written, value);
        /* fall through */
    case CLI_STRING:
        *(const char **)(void *)field = value;
        return true;
    case CLI_NUMBER:
        if (!cli_read_number(value, (double *)(void *)field)) return bad_value(p, o, written, value);
        return true;
    case CLI_COUNT:
    case CLI_SIZE:
        if (!(o->kind == CLI_SIZE ? cli_read_size(value, &number) : cli_read_count(value, &number)) ||
            number < o->least || number > o->most)
            return bad_value(p, o, written, value);
        *(uint64_t *)(void *)field = number;
        return true;
    }
    return true;
}

/* "--name", "--name=value" or "--name" "value". */
static bool read_option(struct parser *p)
{
    const char *written = p->argv[p->at++], *name = written + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name), i = 0;
    char plain[NAME_MAX_LENGTH + 1];
    snprintf(plain, sizeof(plain), "%.*s", (int)(length > NAME_MAX_LENGTH ? NAME_MAX_LENGTH : length), name);
    while (i < cli_option_count && strcmp(cli_options[i].name, plain) != 0) i++;
    if (i == cli_option_count) return unknown_option(p, plain, written);
    const struct cli_option *o = &cli_options[i];
    if (o->kind == CLI_FLAG && equals) {
        SAY(p->problem->message, "--%s takes no value", o->name);
        return refuse(p, TN_INVALID_REQUEST, written);
    }
    if (p->values->given[i] && o->kind != CLI_LIST && o->kind != CLI_FLAG) {
        SAY(p->problem->message, "--%s is given twice", o->name);
        return refuse(p, TN_INVALID_REQUEST, written);
    }
    p->values->given[i] = true;
    if (o->kind == CLI_FLAG) return store(p, o, written, NULL);
    if (equals) return store(p, o, written, equals + 1);
    if (p->at == p->argc) {
        SAY(p->problem->message, "--%s needs a value", o->name);
        SAY(p->problem->expected, "--%s %s", o->name, o->value);
        return refuse(p, TN_INVALID_REQUEST, written);
    }
    return store(p, o, written, p->argv[p->at++]);
}

static bool unknown_verb(struct parser *p)
{
    const char *names[CLI_VERB_COUNT];
    for (int i = 0; i < CLI_VERB_COUNT; i++) names[i] = cli_verbs[i].name;
    const char *near = cli_nearest(p->verb, names, CLI_VERB_COUNT);
    SAY(p->problem->message, "there is no verb %.80s", p->verb);
    if (near) SAY(p->problem->expected, "perhaps %s", near);
    if (!near) {
        size_t used = 0;
        for (int i = 0; i < CLI_VERB_COUNT; i++) {
            used += (size_t)snprintf(p->problem->expected + used, sizeof(p->problem->expected) - used, "%s%s",
                                     i ? ", " : "one of ", names[i]);
        }
    }
    return refuse(p, TN_UNSUPPORTED_OPTION, p->verb);
}

/* Every option must belong to the verb; help and version need none. */
static bool check_options(struct parser *p)
{
    for (size_t i = 0; i < cli_option_count; i++) {
        const struct cli_option *o = &cli_options[i];
        if (!p->values->given[i] || cli_option_takes(o, p->values->verb)) continue;
        size_t used = 0;
        for (int v = 0; v < CLI_VERB_COUNT; v++) {
            if (!cli_option_takes(o, v)) continue;
            used += (size_t)snprintf(p->problem->expected + used, sizeof(p->problem->expected) - used, "%s%s",
                                     used ? ", " : "one of its verbs: ", cli_verbs[v].name);
        }
        SAY(p->problem->message, "--%s does not belong to %s", o->name, cli_verbs[p->values->verb].name);
        return refuse(p, TN_INVALID_REQUEST, o->name);
    }
    return true;
}

static bool check_operands(struct parser *p)
{
    const struct cli_verb *verb = &cli_verbs[p->values->verb];
    size_t count = p->values->operand_count;
    if (count >= verb->least && count <= verb->most) return true;
    SAY(p->problem->message, count < verb->least ? "%s: an operand is missing" : "%s: too many operands", verb->name);
    SAY(p->problem->found, "%zu", count);
    SAY(p->problem->expected, "tenon %s %s", verb->name, verb->operands[0] ? verb->operands : "(no operands)");
    return refuse(p, TN_INVALID_REQUEST, count > verb->most ? p->values->operands[verb->most] : "");
}

static bool read_argument(struct parser *p)
{
    const char *word = p->argv[p->at];
    if (!p->only_operands && word[0] == '-' && word[1]) {
        if (strcmp(word, "-h") == 0) word = "--help";
        if (word[1] != '-') {
            p->at++;
            return unknown_option(p, word + 1, word);
        }
        if (strcmp(word, "--") != 0) {
            if (word != p->argv[p->at]) {
                p->at++;
                p->values->help = true;
                return true;
            }
            return read_option(p);
        }
        p->only_operands = true;
        p->at++;
        return true;
    }
    p->at++;
    if (p->verb) {
        add_to_list(&p->values->operands, &p->values->operand_count, word);
        return true;
    }
    p->verb = word;
    p->values->verb = cli_verb_of(word);
    return p->values->verb != CLI_VERB_COUNT || unknown_verb(p);
}

/* A command line that fails early may still say --json further on; the report must have that form. */
static void look_ahead(struct parser *p)
{
    for (; p->at < p->argc && strcmp(p->argv[p->at], "--") != 0; p->at++) {
        if (strcmp(p->argv[p->at], "--json") == 0) p->values->json = true;
    }
}

bool cli_parse(int argc, const char *const *argv, struct cli_values *values, struct cli_problem *problem)
{
    struct parser p = {.argc = argc, .argv = argv, .values = values, .problem = problem};
    memset(values, 0, sizeof(*values));
    memset(problem, 0, sizeof(*problem));
    values->verb = CLI_VERB_COUNT;
    problem->option = "";
    while (p.at < argc) {
        if (read_argument(&p)) continue;
        if (!p.only_operands) look_ahead(&p);
        return false;
    }
    if (!p.verb) {
        if (values->help || values->version) return true;
        SAY(problem->message, "a verb is missing");
        SAY(problem->expected, "tenon VERB [OPERAND...] [OPTION...]");
        SAY(problem->remedy, "see `tenon help`");
        return refuse(&p, TN_INVALID_REQUEST, "");
    }
    if (values->help || values->version) return true;
    return check_options(&p) && check_operands(&p);
}

void cli_values_release(struct cli_values *values)
{
    free(values->descriptive);
    free(values->inputs);
    values->inputs = NULL;
    values->input_count = 0;
    free(values->operands);
    values->descriptive = values->operands = NULL;
    values->descriptive_count = values->operand_count = 0;
}
