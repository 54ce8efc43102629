import type { SQLInputValue } from "node:sqlite";

/** Runs statements, each prepared once. */
export interface Runner {
  /** Returns how many rows changed. */
  run(sql: string, values: SQLInputValue[]): number;
  get<T>(sql: string, values: SQLInputValue[]): T | undefined;
  all<T>(sql: string, values: SQLInputValue[]): T[];
}
