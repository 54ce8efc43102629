import { isolate } from "#lib/text/isolate.ts";
import { isMailKind, type MailKind, mailKinds } from "./kinds.ts";

/** The texts of templates by their files' names, such as "low-balance.txt". */
export type TemplateFiles = ReadonlyMap<string, string>;

/** What every template may name. */
export interface SiteFacts {
  /** The service's name for people. */
  readonly site: string;
  /** Where people find help. Empty: nowhere. */
  readonly support: string;
  /** The address of the site. Empty: it has none. */
  readonly console: string;
}

/** A mail's content. */
export interface Letter {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** The HTML around every text. */
export const layoutFile = "layout.html";
const placeholder = /\{\{\s*([a-z_]+)\s*\}\}/g;
const common = ["site", "support", "console"];

/** A template of a mail: the first line is the subject, the rest is the text. */
interface Template {
  readonly subject: string;
  readonly text: string;
}

/**
 * The templates of all kinds. The HTML part is made of the text: a paragraph each, in the layout. A paragraph that names
 * only empty values is left out. Throws when a file is missing, is no kind's, or names something that its kind has not.
 */
export class Templates {
  readonly #templates: ReadonlyMap<MailKind, Template>;
  readonly #layout: string;
  readonly #facts: SiteFacts;

  constructor(files: TemplateFiles, facts: SiteFacts) {
    this.#facts = facts;
    this.#layout = checked(layoutFile, files.get(layoutFile), [...common, "subject", "body"]);
    const kinds = Object.keys(mailKinds).filter(isMailKind);
    this.#templates = new Map(kinds.map((kind) => [kind, readTemplate(kind, files.get(`${kind}.txt`))]));
    const known = new Set([layoutFile, ...kinds.map((kind) => `${kind}.txt`)]);
    const strange = [...files.keys()].find((name) => !known.has(name));
    if (strange !== undefined) {
      throw new Error(`${strange}: is no template; there are ${[...known].join(", ")}`);
    }
  }

  render(kind: MailKind, values: Readonly<Record<string, string>>): Letter {
    const all = { ...this.#facts, ...values };
    const { subject: line, text: body } = this.#templates.get(kind) as Template;
    const subject = fill(line, all).replace(/\s+/g, " ").trim();
    const paragraphs = body.split(/\n{2,}/).filter((paragraph) => tells(paragraph, all));
    const filled = paragraphs.map((paragraph) => fill(paragraph.trim(), all));
    const escaped = Object.fromEntries(
      Object.entries({ ...all, subject }).map(([name, text]) => [name, escapeHtml(text)]),
    );
    return {
      subject,
      text: `${filled.join("\n\n")}\n`,
      html: fill(this.#layout, { ...escaped, body: filled.map(toHtml).join("\n") }),
    };
  }
}

function readTemplate(kind: MailKind, text: string | undefined): Template {
  const name = `${kind}.txt`;
  const whole = checked(name, text, [...common, ...mailKinds[kind].values]).replaceAll("\r\n", "\n");
  const [subject = "", ...lines] = whole.split("\n");
  if (subject.trim() === "" || lines.join("").trim() === "") {
    throw new Error(`${name}: the first line must be the subject, and a text must follow`);
  }
  return { subject, text: lines.join("\n").trim() };
}

function checked(name: string, text: string | undefined, known: readonly string[]): string {
  if (text === undefined) {
    throw new Error(`${name}: the template is missing`);
  }
  const strange = [...text.matchAll(placeholder)].map(([, value = ""]) => value).find((one) => !known.includes(one));
  if (strange !== undefined) {
    throw new Error(`${name}: {{${strange}}} is nothing that this template may name; it may name ${known.join(", ")}`);
  }
  return text;
}

/** Whether a paragraph names nothing, or something that is not empty. */
function tells(paragraph: string, values: Readonly<Record<string, string>>): boolean {
  const named = [...paragraph.matchAll(placeholder)].map(([, name = ""]) => values[name] ?? "");
  return named.length === 0 || named.some((value) => value !== "");
}

/** Values are lines: whoever chose a value writes no paragraphs of their own, and turns nothing around it. */
function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(placeholder, (_, name: string) =>
    name === "body" ? (values[name] ?? "") : isolate((values[name] ?? "").replace(/[\p{Cc}\u2028\u2029]+/gu, " ")),
  );
}

/** A paragraph as HTML; a line that is an address alone is a link. */
function toHtml(paragraph: string): string {
  const lines = paragraph.split("\n").map((line) => {
    const text = escapeHtml(line);
    return /^https?:\/\/\S+$/.test(line) ? `<a href="${text}">${text}</a>` : text;
  });
  return `<p>${lines.join("<br>\n")}</p>`;
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character);
}
