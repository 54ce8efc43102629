import { createHash } from "node:crypto";
import { appendFileSync, globSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Mutation } from "./mutation.ts";

/** Who noticed a mutation. */
export interface Noticed {
  readonly name: string;
  /** Undefined: no test. */
  readonly test?: string | undefined;
  /** Undefined: no judge of a world. */
  readonly judge?: string | undefined;
  /** The worlds that were lived. */
  readonly worlds: number;
}

interface Result extends Noticed {
  readonly key: string;
}

/** Whether anything notices a mutation. */
export const isNoticed = ({ test, judge }: Noticed): boolean => test !== undefined || judge !== undefined;

/**
 * What earlier runs found, in a file of one line each, so that a run that was broken off goes on. What was noticed holds
 * for as long as the mutation, its source and its tests are the same; what was missed, as long as no source, test or
 * world is another.
 */
export class Results {
  readonly #root: string;
  readonly #path: string;
  readonly #tree: string;
  readonly #known = new Map<string, Noticed>();
  readonly #texts = new Map<string, string>();

  /** `path`: where the file is, from the root of the tree. */
  constructor(root: string, path = "build/mutations.jsonl") {
    this.#root = root;
    this.#path = join(root, path);
    const sources = globSync(["src/**/*.ts", "lib/**/*.ts", "test/{money,simulation,mutations}/**/*.ts"], {
      cwd: root,
    });
    this.#tree = digest(sources.sort().map((file) => this.#read(file)));
    for (const { key, ...found } of this.#lines()) {
      this.#known.set(key, found);
    }
  }

  /** What an earlier run found. Undefined: it has to be tried. */
  find(mutation: Mutation): Noticed | undefined {
    return this.#known.get(this.#keyOf(mutation, true)) ?? this.#known.get(this.#keyOf(mutation, false));
  }

  add(mutation: Mutation, found: Noticed): void {
    mkdirSync(dirname(this.#path), { recursive: true });
    const result: Result = { key: this.#keyOf(mutation, isNoticed(found)), ...found };
    appendFileSync(this.#path, `\n${JSON.stringify(result)}`);
    this.#known.set(result.key, found);
  }

  forget(): void {
    this.#known.clear();
    rmSync(this.#path, { force: true });
  }

  #keyOf(mutation: Mutation, wasNoticed: boolean): string {
    const { file, find, replace, tests, worlds = [] } = mutation;
    const texts = [file, ...tests].map((path) => this.#read(path));
    return digest([file, find, replace, tests.join(), worlds.join(), ...texts, wasNoticed ? "" : this.#tree]);
  }

  /** A file as it was when it was first read: what is tried is a copy of that time. */
  #read(file: string): string {
    const text = this.#texts.get(file) ?? readFileSync(join(this.#root, file), "utf8");
    this.#texts.set(file, text);
    return text;
  }

  /** What a killed run left of a line does not count. */
  #lines(): Result[] {
    let text = "";
    try {
      text = readFileSync(this.#path, "utf8");
    } catch {
      return []; // there was no run before
    }
    return text.split("\n").flatMap((line) => {
      try {
        return [JSON.parse(line) as Result];
      } catch {
        return [];
      }
    });
  }
}

const digest = (texts: readonly string[]): string => {
  const hash = createHash("sha256");
  for (const text of texts) {
    hash.update(`${text.length} ${text}`);
  }
  return hash.digest("hex").slice(0, 24);
};
