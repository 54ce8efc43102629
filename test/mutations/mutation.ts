import type { WorldKind } from "./world-kinds.ts";

/** A fault that is put into the sources: something must notice it. */
export interface Mutation {
  /** What the program does wrong with it. */
  readonly name: string;
  /** The source, from the root of the tree. */
  readonly file: string;
  /** The text that is replaced. The file has it once. */
  readonly find: string;
  readonly replace: string;
  /** The sentence of the documentation that it breaks, as it stands there. */
  readonly breaks: string;
  /** The tests of the area, in the order in which they run: first those that are quick and likely to notice it. */
  readonly tests: readonly string[];
  /** The kinds of worlds in which it can show. Absent: the usual ones. Empty: no world lives this text. */
  readonly worlds?: readonly WorldKind[];
  /** Whether it is among the few that every run of CI tries. */
  readonly isShort?: true;
  /** Why nothing can notice it: no promise depends on it. */
  readonly equivalent?: string;
}

/** Shortens a list whose entries have the folder of their sources, and of their tests, and mostly their worlds in common. */
export const within = (
  { source, tests, worlds }: { readonly source: string; readonly tests: string } & Pick<Mutation, "worlds">,
  list: readonly Mutation[],
): readonly Mutation[] =>
  list.map((one) => ({
    ...(worlds && { worlds }),
    ...one,
    file: `${source}/${one.file}`,
    tests: one.tests.map((test) => `${tests}/${test}.test.ts`),
  }));
