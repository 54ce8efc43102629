import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { isMailKind, mailKinds } from "#src/delivery/mail/kinds.ts";
import { readTemplates } from "#src/delivery/mail/template-files.ts";
import { Templates } from "#src/delivery/mail/templates.ts";

const facts = { site: "Example", support: "help@example.com", console: "https://console.example.com" };
const kinds = Object.keys(mailKinds).filter(isMailKind);

test.each(kinds)("%s says all that it is given, as text and as HTML", async (kind) => {
  const templates = new Templates(await readTemplates(undefined), facts);
  const values = Object.fromEntries(mailKinds[kind].values.map((name) => [name, `<${name}>`]));
  const { subject, text, html } = templates.render(kind, values);
  expect(subject).not.toBe("");
  expect(`${subject}\n${text}${html}`).not.toContain("{{");
  for (const name of mailKinds[kind].values) {
    expect(`${subject}\n${text}`).toContain(`<${name}>`);
    expect(html).toContain(`&lt;${name}&gt;`);
    expect(html).not.toContain(`<${name}>`);
  }
});

test("a value cannot begin a paragraph or a header of its own", async () => {
  const templates = new Templates(await readTemplates(undefined), facts);
  const account = "Ada\r\nBcc: eve@example.com\n\nhttps://evil.example";
  const { subject, text, html } = templates.render("balance-exhausted", { account, balance_usd: "0" });
  expect(subject).toBe("Ada Bcc: eve@example.com https://evil.example: the balance is used up");
  expect(text.split("\n\n")[0]).toContain("Ada Bcc: eve@example.com https://evil.example is 0 USD");
  expect(html.match(/<a href="[^"]*"/g)).toEqual(['<a href="https://console.example.com"']);
});

test("a name that is written from right to left turns nothing around it", async () => {
  const templates = new Templates(await readTemplates(undefined), facts);
  const account = "\u05d0\u05d3\u05d4 (1)";
  const { subject, text, html } = templates.render("balance-exhausted", { account, balance_usd: "0" });
  const apart = `\u2068${account}\u2069`;
  expect(subject).toBe(`${apart}: the balance is used up`);
  expect(text).toContain(`The balance of ${apart} is 0 USD`);
  expect(html).toContain(`The balance of ${apart} is 0 USD`);
});

test("a paragraph that names only what is empty is left out", async () => {
  const templates = new Templates(await readTemplates(undefined), { ...facts, console: "" });
  const { text } = templates.render("low-balance", { account: "Ada", balance_usd: "1", threshold_usd: "2" });
  expect(text).toBe("The balance of Ada is 1 USD, below 2 USD. Requests are refused once it is used up.\n");
});

test("an operator's template takes the place of ours, and a wrong one is named", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-mail-"));
  try {
    await writeFile(join(folder, "low-balance.txt"), "Mind {{account}}\r\n\r\nOnly {{balance_usd}} left.\r\n");
    const own = new Templates(await readTemplates(folder), facts);
    const values = { account: "Ada", balance_usd: "1", threshold_usd: "2" };
    expect(own.render("low-balance", values)).toMatchObject({ subject: "Mind Ada", text: "Only 1 left.\n" });
    expect(own.render("balance-exhausted", values).subject).toBe("Ada: the balance is used up");
    await writeFile(join(folder, "low-balance.txt"), "Mind {{password}}\n\nText\n");
    const files = await readTemplates(folder);
    expect(() => new Templates(files, facts)).toThrow("low-balance.txt: {{password}} is nothing that this template");
  } finally {
    await rm(folder, { recursive: true });
  }
});
