import { readFile } from "node:fs/promises";
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
} from "yaml";
import { ConfigError } from "./config-error.ts";
import { formatPath, type Path } from "./problems/path.ts";
import { explain, isAmount } from "./problems/problems.ts";
import { type Config, configSchema } from "./schema.ts";

/** The configuration of an empty file. */
export function defaultConfig(): Config {
  return configSchema.parse({});
}

/** The `file:line` of a field such as `["models", 0, "id"]`. Undefined: the file does not set it. */
export type PlaceOf = (path: Path) => string | undefined;

/** A configuration, and where its fields are written. */
export interface ConfigFile {
  readonly config: Config;
  readonly placeOf: PlaceOf;
}

/** What runs without a file. */
export function noFile(): ConfigFile {
  return { config: defaultConfig(), placeOf: () => undefined };
}

/** Reads a configuration file. Throws ConfigError with every mistake in it. */
export async function loadConfig(file: string): Promise<Config> {
  return (await loadConfigFile(file)).config;
}

/** As loadConfig, and also locates each field. */
export async function loadConfigFile(file: string): Promise<ConfigFile> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new ConfigError(`${file}: cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
  }
  return parseConfigFile(text, file);
}

/** As loadConfig, for a text. The file's name is for the messages. */
export function parseConfig(text: string, file: string): Config {
  return parseConfigFile(text, file).config;
}

/** As loadConfigFile, for a text. */
export function parseConfigFile(text: string, file: string): ConfigFile {
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
  const value = readValue(document, file, at);
  restoreAmounts(document, value);
  const result = configSchema.safeParse(value);
  if (result.success) {
    return {
      config: result.data,
      placeOf(path) {
        const { offset, found } = locate(document.contents, path);
        return found ? at(offset) : undefined;
      },
    };
  }
  const problems = explain(configSchema, value, result.error.issues).map((problem) => ({
    offset: locate(document.contents, problem.path).offset,
    text: problem.path.length === 0 ? problem.message : `${formatPath(problem.path)}: ${problem.message}`,
  }));
  problems.sort((a, b) => a.offset - b.offset);
  throw new ConfigError(problems.map((problem) => `${at(problem.offset)}: ${problem.text}`).join("\n"));
}

/** What a document says. Throws ConfigError for an alias without its anchor, and for aliases without an end. */
function readValue(document: Document.Parsed, file: string, at: (offset: number) => string): unknown {
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) === undefined) {
        const place = at(alias.range?.[0] ?? 0);
        throw new ConfigError(
          `${place}: *${alias.source} names an anchor that is not above it; text that begins with * needs quotes`,
        );
      }
    },
  });
  try {
    return document.toJS() ?? {};
  } catch (error) {
    throw new ConfigError(`${file}: is not one valid YAML document: ${error instanceof Error ? error.message : error}`);
  }
}

/**
 * Restores amounts as they are written: YAML reads those without quotes as numbers, which rounds long ones and takes
 * `0x10` for 16 and `1e3` for 1000.
 */
function restoreAmounts(document: Document.Parsed, value: unknown, path: Path = []): void {
  if (typeof value !== "object" || value === null) {
    return;
  }
  for (const [name, child] of Object.entries(value)) {
    const below = [...path, Array.isArray(value) ? Number(name) : name];
    if (typeof child === "object") {
      restoreAmounts(document, child, below);
    }
    if (typeof child !== "number" || !isAmount(configSchema, below)) {
      continue;
    }
    const { node } = locate(document.contents, below);
    const scalar = isAlias(node) ? node.resolve(document) : node;
    if (isScalar(scalar) && scalar.source !== undefined) {
      Object.assign(value, { [name]: scalar.source });
    }
  }
}

/** The position of a field, or of the object that should have it when it is missing. */
function locate(contents: Node | null, path: Path): { offset: number; found: boolean; node: Node | null } {
  let node: Node | null = contents;
  let offset = contents?.range?.[0] ?? 0;
  for (const part of path) {
    const pair: Pair | undefined = isMap(node) ? findPair(node, String(part)) : undefined;
    const next: unknown = isMap(node) ? pair?.value : findElement(node, Number(part));
    // A value may be lines below its key: the key's line is the one to name.
    const named: unknown = pair?.key ?? next;
    if (isNode(named)) {
      offset = named.range?.[0] ?? offset;
    }
    if (!isNode(next)) {
      return { offset, found: false, node: null };
    }
    node = next;
  }
  return { offset, found: true, node };
}

function findPair(map: YAMLMap, key: string): Pair | undefined {
  return map.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === key);
}

function findElement(node: Node | null, index: number): unknown {
  return node !== null && "items" in node && Array.isArray(node.items) ? node.items[index] : undefined;
}
