import { readFile } from "node:fs/promises";
import { isMap, isNode, isScalar, LineCounter, type Node, type Pair, parseDocument, type YAMLMap } from "yaml";
import { ConfigError } from "./config-error.ts";
import { explain, formatPath, type Problem } from "./problems.ts";
import { type Config, configSchema } from "./schema.ts";

/** The configuration of an empty file. */
export function defaultConfig(): Config {
  return configSchema.parse({});
}

/** Reads a configuration file. Throws ConfigError with every mistake in it. */
export async function loadConfig(file: string): Promise<Config> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new ConfigError(`${file}: cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
  }
  return parseConfig(text, file);
}

/** As loadConfig, on text; the file's name is for the messages. */
export function parseConfig(text: string, file: string): Config {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number) => `${file}:${lines.linePos(offset).line}`;
  if (document.errors.length > 0) {
    throw new ConfigError(
      document.errors
        .map((error) => `${at(error.pos[0])}: is not one valid YAML document: ${error.message}`)
        .join("\n"),
    );
  }
  const value: unknown = document.toJS() ?? {};
  const result = configSchema.safeParse(value);
  if (result.success) return result.data;
  const problems = explain(configSchema, value, result.error.issues).map((problem) => ({
    offset: offsetOf(document.contents, problem),
    text: problem.path.length === 0 ? problem.message : `${formatPath(problem.path)}: ${problem.message}`,
  }));
  problems.sort((a, b) => a.offset - b.offset);
  throw new ConfigError(problems.map((problem) => `${at(problem.offset)}: ${problem.text}`).join("\n"));
}

/** Where a problem lies: at its field, or, when that is missing, at what should hold it. */
function offsetOf(contents: Node | null, problem: Problem): number {
  let node: Node | null = contents;
  let offset = contents?.range?.[0] ?? 0;
  for (const part of problem.path) {
    const pair: Pair | undefined = isMap(node) ? pairOf(node, String(part)) : undefined;
    if (isNode(pair?.key)) offset = pair.key.range?.[0] ?? offset;
    const next: unknown = pair ? pair.value : isMap(node) ? undefined : elementOf(node, Number(part));
    if (!isNode(next)) return offset;
    // A value may stand lines below its key; the line of the value's field is the one to name.
    if (!pair) offset = next.range?.[0] ?? offset;
    node = next;
  }
  return offset;
}

function pairOf(map: YAMLMap, key: string): Pair | undefined {
  return map.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === key);
}

function elementOf(node: Node | null, index: number): unknown {
  return node !== null && "items" in node && Array.isArray(node.items) ? node.items[index] : undefined;
}
