import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { ClientBase, QueryConfig } from "pg";

/** Where a server's history stands: each promotion of a standby begins the next timeline. */
export interface Position {
  readonly standby: boolean;
  /** Made by initdb, and the same on all copies of a server. */
  readonly system: string;
  /** Null: the server is a standby. */
  readonly timeline: number | null;
}

/** Privileges and functions that some services of others do not have: then nothing is known of their history. */
const unsupported = /^(42501|42883|0A000)$/;

const position = `
  select pg_is_in_recovery() as standby, (select system_identifier::text from pg_control_system()) as system,
    case when pg_is_in_recovery() then null
      else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int end as timeline`;

/** Undefined: the server does not tell. Waits `answerMs` at most. */
export async function readPosition(client: ClientBase, answerMs: number): Promise<Position | undefined> {
  try {
    const query = { text: position, query_timeout: answerMs } as QueryConfig;
    return (await client.query<Position>(query)).rows[0];
  } catch (error) {
    if (unsupported.test(String((error as { code?: string }).code))) {
      return undefined;
    }
    throw error;
  }
}

interface Known {
  readonly system: string;
  readonly timeline: number;
}

/**
 * The history of the database that this process writes to and, with a file, that earlier processes of its data directory have
 * written to. An old primary that comes back beside the new one has a history that ends before the promotion: what it stores
 * would be lost, and what the new one has would be done twice.
 */
export class History {
  readonly #file: string | undefined;
  #last: Known | undefined;
  /** Whether an earlier process knew it: since then the service may have moved to another server. */
  #isEarlier = false;
  #turns = 0;
  /** Whether the last server that answered was refused: something may have been written there before that was seen. */
  #isAstray = false;

  constructor(file?: string) {
    this.#file = file;
    this.#last = file === undefined ? undefined : readKnown(file);
    this.#isEarlier = this.#last !== undefined;
  }

  /** Each promotion of a standby begins the next. Undefined: unknown. */
  get timeline(): number | undefined {
    return this.#last?.timeline;
  }

  /** Counts how often the database changed hands since the process began, also to a server that is refused, and back. */
  get turns(): number {
    return this.#turns;
  }

  /** Goes on from a position of a server. Throws when the process has written to a later one. */
  follow(position: Position | undefined): void {
    const fault = this.faultOf(position);
    if (fault !== undefined) {
      this.#isAstray = true;
      throw fault;
    }
    if (position !== undefined && position.timeline !== null) {
      const { system, timeline } = position;
      const isNew = this.#last?.system !== system || this.#last.timeline !== timeline;
      if (isNew || this.#isAstray) {
        this.#turns++;
        this.#isAstray = false;
      }
      this.#last = { system, timeline };
      this.#isEarlier = false;
      if (isNew && this.#file !== undefined) {
        keepKnown(this.#file, this.#last);
      }
    }
  }

  /** Why the process must not write to a server at this position. Undefined: it may, as far as is known. */
  faultOf(position: Position | undefined): Error | undefined {
    const last = this.#last;
    if (last === undefined || position === undefined || position.timeline === null) {
      return undefined;
    }
    if (position.system === last.system ? position.timeline >= last.timeline : this.#isEarlier) {
      return undefined;
    }
    const found = position.system === last.system ? `timeline ${position.timeline}` : "a timeline of another server";
    const advice =
      this.#file === undefined
        ? "restart the core"
        : `remove ${this.#file}, which names the timeline, and restart the core`;
    const message = `PostgreSQL: this database is on ${found}, and this core has written to timeline ${last.timeline}: it is no continuation of what the core knows. Stop this server, or make it a standby of the new primary; after a restore, ${advice}`;
    return Object.assign(new Error(message), { code: "ESTALE" });
  }
}

/** Undefined: there is no such file, or it makes no sense. */
function readKnown(file: string): Known | undefined {
  try {
    const { system, timeline } = JSON.parse(readFileSync(file, "utf8")) as Partial<Known>;
    return typeof system === "string" && Number.isSafeInteger(timeline)
      ? { system, timeline: Number(timeline) }
      : undefined;
  } catch {
    return undefined;
  }
}

/** A disk that does not take it stops no charge: the process itself still knows. */
function keepKnown(file: string, known: Known): void {
  try {
    writeFileSync(`${file}.next`, `${JSON.stringify(known)}\n`, { mode: 0o600 });
    renameSync(`${file}.next`, file);
  } catch {
    // The next promotion tries again.
  }
}
