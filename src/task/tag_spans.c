/*
 * Tokens to spans, as TokenClassificationPipeline of transformers 5.24 has it: words are tokens and the subwords behind
 * them, a word has one label, neighbours of one entity are one span. Knows no text: offsets and probabilities come in.
 *
 * Labels of the form B-X and I-X are two positions of one entity X; any other label is an entity of its own that goes on.
 */
#include "task/tag.h"

#include <string.h>

/* What a token or a word was found to be. */
struct verdict {
    uint32_t label;
    float score;
};

static struct verdict best_of(const float *probabilities, size_t n)
{
    struct verdict v = {0, probabilities[0]};
    for (size_t i = 1; i < n; i++)
        if (probabilities[i] > v.score) v = (struct verdict){(uint32_t)i, probabilities[i]};
    return v;
}

static struct verdict mean_of(const struct tn_tag_token *tokens, size_t count, size_t labels, float *mean)
{
    for (size_t i = 0; i < labels; i++) {
        float sum = 0;
        for (size_t t = 0; t < count; t++) sum += tokens[t].probabilities[i];
        mean[i] = sum / (float)count;
    }
    return best_of(mean, labels);
}

/* The label of a word of `count` tokens. */
static struct verdict word_of(const struct tn_tag_rule *rule, const struct tn_tag_token *tokens, size_t count, float *mean)
{
    size_t labels = (size_t)rule->head->outputs;
    struct verdict best = best_of(tokens[0].probabilities, labels);
    if (rule->aggregation == TN_AGGREGATE_AVERAGE) return mean_of(tokens, count, labels, mean);
    for (size_t t = 1; rule->aggregation == TN_AGGREGATE_MAX && t < count; t++) {
        struct verdict v = best_of(tokens[t].probabilities, labels);
        if (v.score > best.score) best = v;
    }
    return best;
}

static bool begins(struct tn_str label, char position)
{
    return label.n >= 2 && label.s[0] == position && label.s[1] == '-';
}

/* "PER" of "B-PER" and "I-PER"; other labels as they are. */
static struct tn_str entity_of(struct tn_str label)
{
    bool marked = begins(label, 'B') || begins(label, 'I');
    return marked ? (struct tn_str){label.s + 2, label.n - 2} : label;
}

/* What a joined span is called: the label behind its first hyphen. */
static struct tn_str group_name(struct tn_str label)
{
    const char *hyphen = label.n ? memchr(label.s, '-', label.n) : NULL;
    if (!hyphen) return label;
    size_t before = (size_t)(hyphen - label.s) + 1;
    return (struct tn_str){label.s + before, label.n - before};
}

struct group {
    struct verdict first, last;
    const struct tn_tag_token *from, *to; /* the last token */
    float sum;
    size_t words;
};

static bool is_outside(const struct tn_tag_rule *rule, struct tn_str name)
{
    return !rule->keep_outside && tn_str_is(name, "O");
}

static size_t put(const struct tn_tag_rule *rule, struct tn_str name, float score, const struct tn_tag_token *from,
                  const struct tn_tag_token *to, tn_tag *out)
{
    if (is_outside(rule, name)) return 0;
    *out = (tn_tag){.label = {name.s, name.n}, .score = score, .begin = from->begin, .end = to->end, .begin_char = from->begin_char,
                    .end_char = to->end_char, .token = from->place, .token_count = to->place - from->place + 1};
    return 1;
}

static size_t close_group(const struct tn_tag_rule *rule, const struct group *g, tn_tag *out)
{
    if (g->words == 0) return 0;
    return put(rule, group_name(rule->head->labels[g->first.label]), g->sum / (float)g->words, g->from, g->to, out);
}

static bool goes_on(const struct tn_tag_rule *rule, const struct group *g, struct verdict v)
{
    struct tn_str label = rule->head->labels[v.label], last = rule->head->labels[g->last.label];
    return g->words > 0 && !begins(label, 'B') && tn_str_eq(entity_of(label), entity_of(last));
}

size_t tn_tag_spans(const struct tn_tag_rule *rule, const struct tn_tag_token *tokens, size_t count, float *mean, tn_tag *out)
{
    bool by_word = rule->aggregation > TN_AGGREGATE_SIMPLE;
    struct group g = {0};
    size_t n = 0;
    for (size_t i = 0, end; i < count; i = end) {
        end = i + 1;
        while (by_word && end < count && tokens[end].subword) end++;
        struct verdict v = word_of(rule, &tokens[i], end - i, mean);
        if (rule->aggregation == TN_AGGREGATE_NONE) {
            n += put(rule, rule->head->labels[v.label], v.score, &tokens[i], &tokens[i], &out[n]);
            continue;
        }
        if (!goes_on(rule, &g, v)) {
            n += close_group(rule, &g, &out[n]);
            g = (struct group){.first = v, .from = &tokens[i]};
        }
        g.last = v;
        g.to = &tokens[end - 1];
        g.sum += v.score;
        g.words++;
    }
    return n + close_group(rule, &g, &out[n]);
}
