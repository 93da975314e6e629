/* Verdicts over ONNX views by code, place and numbers: versions, names, sizes, external data. */
#define _GNU_SOURCE
#include "onnx_util.h"

/* ---- verdicts ---------------------------------------------------------------------------------------------------- */

static struct tn_findings check_text(const char *s)
{
    struct tn_findings list;
    tn_findings_init(&list, &alloc, 100);
    struct tn_onnx_view *view = view_text(s);
    if (view) {
        tn_onnx_check(view, NULL, &list);
    } else {
        test_fail(__FILE__, __LINE__, "%s", err->primary.found);
    }
    tn_onnx_view_free(view);
    return list;
}

/* A finding with this code, place and words in what was found and what is expected. */
static void expect_finding(struct tn_findings *list, enum tn_status code, const char *element, const char *found,
                           const char *expected, int line)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct tn_finding *f = &list->items[i];
        if (f->code == code && strcmp(f->element, element) == 0 && strstr(f->found, found) &&
            strstr(f->expected, expected) && f->file[0])
            return;
    }
    test_fail(__FILE__, line, "no finding %s at %s", tn_status_name(code), element);
    print_findings(list);
}
#define FINDS(list, code, element, found, expected)                                                                    \
    expect_finding(&(list), (code), (element), (found), (expected), __LINE__)

static void done(struct tn_findings *list, size_t count)
{
    CHECK_INT(list->count, count);
    if (list->count != count) print_findings(list);
    tn_findings_release(list);
    CHECK_INT(tn_alloc_current(&alloc), 0);
}

TEST(versions)
{
    struct tn_findings f = check_text("ir_version: 9 graph {} opset_import { version: 17 }");
    done(&f, 0);
    f = check_text("ir_version: 15 graph {} opset_import { version: 29 }");
    FINDS(f, TN_VERSION_UNQUALIFIED, "/ir_version", "15", "3 to 14");
    FINDS(f, TN_VERSION_UNQUALIFIED, "/opset_import/0", "domain ai.onnx, version 29",
          "domain ai.onnx, version 1 to 28");
    done(&f, 2);
    f = check_text("ir_version: 0 graph {} opset_import { domain: 'ai.onnx.ml' version: 0 }");
    FINDS(f, TN_ARTIFACT_MALFORMED, "/ir_version", "0", "3 to 14");
    FINDS(f, TN_ARTIFACT_MALFORMED, "/opset_import/0", "domain ai.onnx.ml, version 0", "version 1 to 5");
    done(&f, 2);
    f = check_text("graph {}");
    FINDS(f, TN_ARTIFACT_MALFORMED, "/ir_version", "", "3 to 14");
    FINDS(f, TN_ARTIFACT_MALFORMED, "/opset_import", "", "domain ai.onnx, version 1 to 28");
    done(&f, 2);
    f = check_text(
        "ir_version: 9 graph {} opset_import { version: 11 } opset_import { domain: 'ai.onnx' version: 13 }");
    FINDS(f, TN_ARTIFACT_MALFORMED, "/opset_import/1", "domain ai.onnx, versions 11 and 13", "one version");
    done(&f, 1);
    f = check_text(
        "ir_version: 9 graph { node { op_type: 'Foo' domain: 'com.example' } } opset_import { version: 17 }");
    FINDS(f, TN_ARTIFACT_MALFORMED, "/opset_import", "operator Foo of domain com.example", "com.example");
    done(&f, 1);
    f = check_text("ir_version: 9 graph {} opset_import { domain: 'com.example' version: 400 }"
                   "functions { name: 'F' domain: 'd' opset_import { version: 99 } }");
    FINDS(f, TN_VERSION_UNQUALIFIED, "/functions/0/opset_import/0", "version 99", "1 to 28");
    done(&f, 1);
}

TEST(names_and_sizes)
{
    struct tn_findings f =
        check_text("ir_version: 9 opset_import { version: 17 } graph { input { name: 'a' } input { name: 'a' }"
                   "output { name: 'b' type { tensor_type { elem_type: 99 } } } output {}"
                   "initializer { name: 'w' } initializer { name: 'w' } }");
    FINDS(f, TN_ARTIFACT_MALFORMED, "/graph/input/1", "\"a\"", "once");
    FINDS(f, TN_VERSION_UNQUALIFIED, "/graph/output/0", "type 99 of \"b\"", "14");
    FINDS(f, TN_ARTIFACT_MALFORMED, "/graph/output/1", "", "");
    FINDS(f, TN_ARTIFACT_MALFORMED, "/graph/initializer/1", "\"w\"", "once");
    done(&f, 4);
    f = check_text("ir_version: 9 opset_import { version: 17 }");
    done(&f, 1);
    struct bytes graph = {0}, t = {0}, b;
    number(&t, 1, 4);
    number(&t, 2, 1);
    text(&t, 8, "w");
    text(&t, 9, "fifteen bytes!!");
    message(&graph, 5, t);
    b = model_of(graph);
    number(&b, 900, 1);
    struct tn_onnx_view *view = view_bytes(b.data, b.n);
    REQUIRE(view);
    tn_findings_init(&f, &alloc, 100);
    tn_onnx_check(view, NULL, &f);
    FINDS(f, TN_TENSOR_MISMATCH, "w", "15 bytes", "16 bytes");
    FINDS(f, TN_VERSION_UNQUALIFIED, "", "field 900 of ModelProto", "ir_version 14");
    tn_onnx_view_free(view);
    done(&f, 2);
    free(b.data);
}

/* ---- external data ----------------------------------------------------------------------------------------------- */

static const char external_text[] =
    "ir_version: 9 opset_import { version: 17 } graph {"
    "initializer { name: 'good' dims: 4 data_type: 1 data_location: EXTERNAL external_data { key: 'location' value: "
    "'w.bin' }"
    " external_data { key: 'offset' value: '16' } external_data { key: 'length' value: '16' } }"
    "initializer { name: 'beyond' dims: 4 data_type: 1 data_location: EXTERNAL external_data { key: 'location' value: "
    "'w.bin' }"
    " external_data { key: 'offset' value: '17' } }"
    "initializer { name: 'negative' dims: 4 data_type: 1 data_location: EXTERNAL"
    " external_data { key: 'location' value: 'w.bin' } external_data { key: 'offset' value: '-4' } }"
    "initializer { name: 'short' dims: 4 data_type: 1 data_location: EXTERNAL"
    " external_data { key: 'location' value: 'w.bin' } external_data { key: 'length' value: '12' } }"
    "initializer { name: 'gone1' dims: 4 data_type: 1 data_location: EXTERNAL external_data { key: 'location' value: "
    "'no.bin' } }"
    "initializer { name: 'gone2' dims: 2 data_type: 7 data_location: EXTERNAL external_data { key: 'location' value: "
    "'no.bin' } }"
    "initializer { name: 'also' dims: 1 data_type: 1 data_location: EXTERNAL external_data { key: 'location' value: "
    "'sub/no.bin' } }"
    "initializer { name: 'up' dims: 1 data_type: 1 data_location: EXTERNAL external_data { key: 'location' value: "
    "'../w.bin' } }"
    "initializer { name: 'root' dims: 1 data_type: 1 data_location: EXTERNAL external_data { key: 'location' value: "
    "'/etc/passwd' } }"
    "initializer { name: 'nul' dims: 1 data_type: 1 data_location: EXTERNAL external_data { key: 'location' value: "
    "'w.bin\\000x' } }"
    "initializer { name: 'placeless' dims: 1 data_type: 1 data_location: EXTERNAL }"
    "initializer { name: 'unmarked' dims: 4 data_type: 1 external_data { key: 'location' value: 'w.bin' } }"
    "initializer { name: 'both' dims: 4 data_type: 1 raw_data: 'aaaabbbbccccdddd' data_location: EXTERNAL"
    " external_data { key: 'location' value: 'w.bin' } }"
    "}";

TEST(external_data)
{
    put_text("onnx/m.onnx.textproto", external_text);
    put_text("onnx/w.bin", "0123456789abcdef0123456789ABCDEF");
    put_text("w.bin", "elsewhere");
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    const struct tn_package_file *file = tn_inventory_file(inv, TN_STR("onnx/m.onnx.textproto"));
    REQUIRE(file);
    CHECK_INT(file->role, TN_ROLE_ONNX_TEXT);
    CHECK(has_evidence(inv, "onnx_text", "onnx.text_form"));
    CHECK_INT(inv->variant_count, 0); /* never executable, so no choice */
    struct tn_onnx_view *view = NULL;
    CHECK_INT(tn_inventory_onnx(inv, file, &view, err), TN_OK);
    REQUIRE(view);
    struct tn_findings f;
    tn_findings_init(&f, &alloc, 100);
    tn_onnx_check(view, inv, &f);
    FINDS(f, TN_ARTIFACT_MALFORMED, "beyond", "offset 17 and 16 bytes in onnx/w.bin of 32 bytes", "inside");
    FINDS(f, TN_ARTIFACT_MALFORMED, "negative", "offset \"-4\"", "0 or more");
    FINDS(f, TN_TENSOR_MISMATCH, "short", "12 bytes", "16 bytes");
    FINDS(f, TN_ARTIFACT_MISSING, "gone1", "no file onnx/no.bin; 2 tensors, 32 bytes, the first is gone1", "");
    FINDS(f, TN_ARTIFACT_MISSING, "also", "no file onnx/sub/no.bin; 1 tensor, 4 bytes", "");
    FINDS(f, TN_PATH_ESCAPE, "up", "../w.bin", "");
    FINDS(f, TN_PATH_ESCAPE, "root", "/etc/passwd", "");
    FINDS(f, TN_PATH_ESCAPE, "nul", "\"w.bin\"", "");
    FINDS(f, TN_ARTIFACT_MALFORMED, "placeless", "", "the name of a file");
    FINDS(f, TN_ARTIFACT_MALFORMED, "unmarked", "", "one of the two");
    FINDS(f, TN_ARTIFACT_MALFORMED, "both", "", "one of the two");
    CHECK_INT(f.count, 11);
    tn_findings_release(&f);
    /* From memory there is no folder to look into. */
    tn_findings_init(&f, &alloc, 100);
    tn_onnx_check(view, NULL, &f);
    CHECK_INT(f.count, 1);
    CHECK_CONTAINS(f.items[0].message, "without a place");
    CHECK_CONTAINS(f.items[0].found, "13 tensors in 7 files");
    tn_findings_release(&f);
    tn_onnx_view_free(view);
    close_package(inv);
}

/* The inventory itself says what is missing, with tensors and bytes; the check says the same and no more. */
TEST(missing_data_is_one_finding)
{
    size_t n;
    char *p = test_read_file(test_path("golden/onnx/external/model.onnx"), &n);
    REQUIRE(p);
    put_bytes("model.onnx", p, n);
    put_text("parts/third.bin", "012345678901234567890123");
    free(p);
    struct tn_inventory *inv = open_package(test_folder());
    REQUIRE(inv);
    CHECK_CONTAINS(EXPECT(inv, TN_ARTIFACT_MISSING, "external data", "model.onnx")->found,
                   "no file model.onnx.data; 2 tensors, 60 bytes, the first is");
    CHECK_INT(inv->findings.blockers, 2);
    struct tn_onnx_view *view = NULL;
    CHECK_INT(tn_inventory_onnx(inv, tn_inventory_file(inv, TN_STR("model.onnx")), &view, err), TN_OK);
    REQUIRE(view);
    struct tn_findings f, all;
    tn_findings_init(&f, &alloc, 100);
    tn_findings_init(&all, &alloc, 100);
    tn_onnx_check(view, inv, &f);
    CHECK_INT(f.count, 2);
    tn_findings_append(&all, &inv->findings);
    size_t before = all.blockers;
    tn_findings_append(&all, &f);
    CHECK_INT(all.blockers, before);
    if (all.blockers != before) print_findings(&all);
    tn_findings_release(&f);
    tn_findings_release(&all);
    tn_onnx_view_free(view);
    CHECK_INT(tn_inventory_onnx(inv, tn_inventory_file(inv, TN_STR("parts/third.bin")), &view, err),
              TN_ARTIFACT_MALFORMED);
    close_package(inv);
}
