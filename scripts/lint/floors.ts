import { readdirSync } from "node:fs";

/** Floors from top to bottom, each with its rooms, by the path of the folder that holds them. */
export type Buildings = Readonly<Record<string, readonly (readonly string[])[]>>;

/** An import rule as dependency-cruiser reads it. */
export interface Wall {
  readonly name: string;
  readonly comment: string;
  readonly severity: "error";
  readonly from: { readonly path: string };
  readonly to: { readonly path: string };
}

/**
 * The rooms of `src`, from the top floor to the ground. A room may import what lies on floors below its own, never what lies
 * beside or above it. Files that lie in a folder of rooms stand here by their names without an ending.
 *
 * Neutral folders have no floors of their own: what lies in them serves their room alone.
 */
export const floors: Buildings = {
  src: [
    ["main"],
    ["cli"],
    ["compose"],
    ["telemetry"],
    ["services"],
    ["identity", "money", "fleet", "delivery", "checkout"],
    ["wire"],
    ["storage", "config"],
  ],
  "src/services": [
    ["inference", "embeddings", "accounts", "people", "sessions", "metering", "overview", "status", "find"],
    ["catalogue-service", "events-service", "operators", "payments"],
    ["limits"],
  ],
  "src/money": [
    ["background"],
    ["retention"],
    ["books", "thresholds"],
    ["ledger"],
    ["store", "rate-limits", "journal", "prices", "labels"],
    ["model"],
  ],
  "src/checkout": [
    ["checkout"],
    ["sweep", "webhook"],
    ["events"],
    ["checkouts", "auto-top-up", "returns"],
    ["payments", "customers"],
    ["dependencies"],
    ["faults"],
    ["stripe", "cents"],
    ["provider"],
  ],
  "src/identity": [["people"], ["accounts", "sessions", "operators", "audit"], ["digests"]],
  "src/fleet": [
    ["create-fleet"],
    ["fleet"],
    ["requests", "roster"],
    ["routing", "watch", "utilisation"],
    ["servers"],
    ["health", "sharing", "kept-drains"],
    ["interface"],
    ["catalogue", "engines"],
  ],
  "src/delivery": [["mail", "usage"], ["webhooks"], ["backlog"]],
  "src/wire": [["interceptors"], ["grpc", "principal"]],
};

/** Names what no floor holds: `[]` where every folder and file has its place. `root` ends with a slash. */
export function findHomeless(root: string, buildings: Buildings = floors): string[] {
  return Object.entries(buildings).flatMap(([base, rows]) => {
    const placed = new Set(rows.flat());
    const there = readdirSync(`${root}${base}`, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() || entry.name.endsWith(".ts"))
      .map((entry) => entry.name.replace(/\.ts$/, ""));
    return there.filter((name) => !placed.has(name)).map((name) => `${base}/${name}`);
  });
}

/** The import rules that keep the rooms of each building on their floors, as dependency-cruiser reads them. */
export function toWalls(buildings: Buildings = floors): Wall[] {
  return Object.entries(buildings).flatMap(([base, rows]) =>
    rows.flatMap((row, floor) => row.map((name) => toWall(base, name, toNames(rows, floor, name)))),
  );
}

/** What lies beside or above a room. */
function toNames(rows: readonly (readonly string[])[], floor: number, name: string): string[] {
  return rows
    .slice(0, floor + 1)
    .flat()
    .filter((other) => other !== name);
}

function toWall(base: string, name: string, closed: readonly string[]): Wall {
  const path = (names: readonly string[]) => `^${base}/(?:${names.join("|")})(?:/|\\.ts$)`;
  return {
    name: `walls-of-${base.replace("/", "-")}`,
    comment: "A room imports from lower floors alone: scripts/lint/floors.ts.",
    severity: "error",
    from: { path: path([name]) },
    to: { path: closed.length === 0 ? "^$" : path(closed) },
  };
}
