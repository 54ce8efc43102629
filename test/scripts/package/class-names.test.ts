import { expect, test } from "@jest/globals";
import { build } from "esbuild";
import { nameClassesAlone } from "../../../scripts/package/class-names.ts";

const source = `
export class Kept { static own = new Kept(); }
class Other { handler = () => 1; #secret = () => this.handler; get secret() { return this.#secret; } }
export const arrow = () => ((one = () => 1, { two } = { two: () => "__name(" }) => [one, two, () => 3])();
export function declared() { function inner() {} const text = () => \`\${(() => inner)().name})\`; return [inner, text]; }
export const of = { method() {}, property: async () => {}, other: Other };
`;

async function bundled(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: source },
    bundle: true,
    write: false,
    keepNames: true,
    format: "esm",
    minifyWhitespace: true,
    target: "node22",
  });
  return outputFiles[0]?.text ?? "";
}

test("no function is named at run time, and all have the names of their source", async () => {
  const before = await bundled();
  const after = nameClassesAlone(before);
  expect(before.match(/__name\((?!this)/g)?.length).toBeGreaterThan(8);
  expect(after.match(/[^"]__name\((?!this)/g)).toBeNull();

  const { Kept, arrow, declared, of } = await import(`data:text/javascript,${encodeURIComponent(after)}`);
  expect([Kept.name, Kept.own.constructor.name, of.other.name]).toEqual(["Kept", "Kept", "Other"]);
  const { handler, secret } = new of.other();
  expect([handler.name, secret.name]).toEqual(["handler", "#secret"]);
  expect([arrow.name, declared.name, of.method.name, of.property.name]).toEqual([
    ...["arrow", "declared", "method", "property"],
  ]);
  expect(arrow().map(({ name }: { name: string }) => name)).toEqual(["one", "two", ""]);
  expect(arrow()[1]()).toBe("__name(");
  const [inner, text] = declared();
  expect([inner.name, text.name, text()]).toEqual(["inner", "text", "inner)"]);
});

test("a module without names is left as it is", () => {
  const code = 'const call=name("__name(f,1)");export{call};';
  expect(nameClassesAlone(code)).toBe(code);
});
