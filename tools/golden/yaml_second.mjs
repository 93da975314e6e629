// A second opinion on tests/golden/yaml: lists the documents that the npm package `yaml` (2.9.1) reads differently.
//
//     npm install yaml@2.9.1 && node tools/golden/yaml_second.mjs
//
// Run from a folder whose node_modules has the package. Exit 0: nothing to list.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { join } from "node:path";

const { parseDocument } = createRequire(join(process.cwd(), "package.json"))("yaml");
const golden = fileURLToPath(new URL("../../tests/golden/", import.meta.url));

// JSON with integers as BigInt and objects as Map: JSON.parse would lose both digits and order.
function parseJson(text) {
  let at = 0;
  const skip = () => { while (" \n\r\t".includes(text[at])) at++; };
  const members = (close, read) => {
    for (skip(), at++, skip(); text[at] !== close; skip()) {
      read();
      skip();
      if (text[at] === ",") { at++; skip(); }
    }
    at++;
  };
  const string = () => {
    const start = at++;
    while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
    return JSON.parse(text.slice(start, ++at));
  };
  const value = () => {
    skip();
    if (text[at] === "{") {
      const out = new Map();
      members("}", () => { const key = string(); skip(); at++; out.set(key, value()); });
      return out;
    }
    if (text[at] === "[") {
      const out = [];
      members("]", () => out.push(value()));
      return out;
    }
    if (text[at] === '"') return string();
    const word = /^[-+.\w]+/.exec(text.slice(at, at + 400))[0];
    at += word.length;
    if (/^-?\d+$/.test(word)) return BigInt(word);
    return { true: true, false: false, null: null }[word] ?? (word === "null" ? null : Number(word));
  };
  return value();
}

function same(a, b) {
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((v, i) => same(v, b[i]));
  if (a instanceof Map) {
    const keys = b instanceof Map ? [...b.keys()].map(String) : [];
    const values = b instanceof Map ? [...b.values()] : [];
    return a.size === keys.length && [...a].every(([key, v], i) => key === keys[i] && same(v, values[i]));
  }
  return typeof a === typeof b && Object.is(a, b);
}

let differing = 0;
function judge(name, text, expected) {
  const document = parseDocument(text, { version: "1.2", schema: "core", intAsBigInt: true, uniqueKeys: true });
  const errors = document.errors.map((e) => e.message.split("\n")[0]);
  const found = errors.length ? errors : document.toJS({ mapAsMap: true });
  if (!errors.length && same(expected, found)) return;
  differing++;
  console.log(`${name}: ${JSON.stringify(found, (k, v) => (typeof v === "bigint" ? `${v}n` : v instanceof Map ? [...v] : v))}`);
}

const cases = parseJson(readFileSync(join(golden, "yaml/cases.json"), "utf-8"));
for (const one of cases.get("cases")) judge(one.get("name"), one.get("text"), one.get("value"));
const standard = parseJson(readFileSync(join(golden, "yaml/standard.json"), "utf-8"));
for (const [path, value] of standard.get("documents")) judge(path, readFileSync(join(golden, "standard", path), "utf-8"), value);
console.log(`${cases.get("cases").length + standard.get("documents").size} documents, ${differing} differ`);
process.exit(differing ? 1 : 0);
