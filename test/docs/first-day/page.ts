import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const path = fileURLToPath(new URL("../../../docs/first-day.md", import.meta.url));

/** docs/first-day.md, with other ports: others may be in use. */
export function readPage(ports: ReadonlyMap<string, number>) {
  let text = readFileSync(path, "utf8");
  for (const [port, other] of ports) {
    text = text.replaceAll(new RegExp(`\\b${port}\\b`, "g"), String(other));
  }
  const blocks = (language: string) =>
    Array.from(text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms")), ([, block = ""]) => block);
  const customer = text.split(/^## 5\..*$/m)[1]?.split(/^## /m)[0] ?? "";
  return {
    commands: blocks("sh"),
    configuration: blocks("yaml")[0] ?? "",
    /** What the customer presses, in order. */
    buttons: Array.from(customer.matchAll(/\b_([^_]+)_\b/g), ([, name = ""]) => name.replaceAll(/\s+/g, " ")),
  };
}
