import type { ModelConfig, ServerConfig } from "#src/config/schema.ts";

/** The facts that a server reports about itself, with remarks on those that are wrong or risky. */
export interface Inspection {
  /** Undefined: the server does not report it. */
  readonly version?: string | undefined;
  /** Limits and settings by name. Those that the server does not report are absent. */
  readonly facts: Readonly<Record<string, Fact | undefined>>;
  readonly remarks: readonly Remark[];
}

export type Fact = string | number | boolean;

/** Something about a server that an operator should know, and how to fix it. */
export interface Remark {
  /** "wrong" costs money or answers; "warning" is worth knowing. */
  readonly status: "warning" | "wrong";
  readonly message: string;
}

/** The server that the configuration expects. */
export interface Subject {
  readonly server: ServerConfig;
  readonly model: ModelConfig;
}

/** The model by the server's own name. */
export function servedName({ server, model }: Subject): string {
  return server.model ?? model.id;
}

export const wrong = (message: string): Remark => ({ status: "wrong", message });
export const warning = (message: string): Remark => ({ status: "warning", message });

/** The remarks whose condition holds. */
export function toRemarks(...all: readonly (readonly [holds: unknown, remark: Remark])[]): Remark[] {
  return all.filter(([holds]) => Boolean(holds)).map(([, remark]) => remark);
}
