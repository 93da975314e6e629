/* Lookups in the table of operators; see the header. */
#include "net/schema.h"

#include "base/sort.h"

static int order(const struct tn_op_schema *s, struct tn_str domain, struct tn_str name)
{
    int by = tn_str_order(tn_str_of(s->domain), domain);
    return by ? by : tn_str_order(tn_str_of(s->name), name);
}

const struct tn_op_schema *tn_op_schema_find(struct tn_str domain, struct tn_str name, int64_t version, bool *known)
{
    size_t low = 0, high = tn_op_schema_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (order(&tn_op_schemas[middle], domain, name) < 0) low = middle + 1;
        else high = middle;
    }
    *known = low < tn_op_schema_count && order(&tn_op_schemas[low], domain, name) == 0;
    for (; low < tn_op_schema_count && order(&tn_op_schemas[low], domain, name) == 0; low++) {
        const struct tn_op_schema *s = &tn_op_schemas[low];
        if (version >= s->since && (s->last == 0 || version <= s->last)) return s;
    }
    return NULL;
}

const struct tn_schema_attr *tn_schema_attr_find(const struct tn_op_schema *schema, struct tn_str name)
{
    for (unsigned i = 0; i < schema->attr_count; i++) {
        if (tn_str_is(name, schema->attrs[i].name)) return &schema->attrs[i];
    }
    return NULL;
}

static const struct tn_schema_port *port(const struct tn_schema_port *ports, uint32_t count, uint32_t i)
{
    if (i < count) return &ports[i];
    return count && ports[count - 1].option == TN_PORT_VARIADIC ? &ports[count - 1] : NULL;
}

const struct tn_schema_port *tn_schema_in(const struct tn_op_schema *schema, uint32_t i)
{
    return port(schema->in, schema->in_count, i);
}

const struct tn_schema_port *tn_schema_out(const struct tn_op_schema *schema, uint32_t i)
{
    return port(schema->out, schema->out_count, i);
}

static uint8_t map_bit(const struct tn_type *map)
{
    enum tn_element value = map->of ? map->of->element : TN_EL_NONE;
    bool real = value == TN_EL_F32 || value == TN_EL_F64;
    if (map->element == TN_EL_STRING) return value == TN_EL_I64 ? TN_MAP_TEXT_INT : real ? TN_MAP_TEXT_REAL : 0;
    return map->element == TN_EL_I64 ? (value == TN_EL_STRING ? TN_MAP_INT_TEXT : real ? TN_MAP_INT_REAL : 0) : 0;
}

bool tn_schema_admits(const struct tn_schema_types *types, const struct tn_type *type)
{
    const struct tn_type *of = type->of;
    switch (type->kind) {
    case TN_KIND_TENSOR: return type->element == TN_EL_NONE || tn_elements_have(types->tensor | types->sparse, type->element);
    case TN_KIND_SEQUENCE:
        if (!of || of->kind == TN_KIND_NONE) return true;
        if (of->kind == TN_KIND_MAP) return types->maps >> 4 & map_bit(of);
        return of->kind == TN_KIND_TENSOR && tn_elements_have(types->sequence, of->element);
    case TN_KIND_OPTIONAL:
        if (!of || of->kind == TN_KIND_NONE) return true;
        if (of->kind == TN_KIND_TENSOR) return tn_elements_have(types->optional, of->element);
        return of->of && tn_elements_have(types->optional_sequence, of->of->element);
    case TN_KIND_MAP: return types->maps & map_bit(type);
    default: return true;
    }
}
