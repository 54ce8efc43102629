/*
 * Wrong: Node.js 22 warns in each thread that its SQLite is experimental, although the releases from 22.23.3 on have
 * everything that the program uses; people take the two lines for a fault.
 * Upstream: Node.js 22.23.3 (nodejs/node#55890; 24 no longer warns).
 * Still needed while test/lib/workarounds/sqlite-warning.test.ts finds Node.js 22 among those that package.json allows.
 * Delete when the oldest one is 24.
 */

const isNeeded = process.versions.node.startsWith("22.");

type EmitWarning = (warning: string | Error, ...rest: unknown[]) => void;

/** Hides that warning, and no other, in this thread. Call it before anything loads SQLite. */
export function hideSqliteWarning(): void {
  if (isNeeded) {
    process.emitWarning = withoutSqlite(process.emitWarning.bind(process) as EmitWarning) as typeof process.emitWarning;
  }
}

/** Passes on all warnings except SQLite's. */
export function withoutSqlite(emitWarning: EmitWarning): EmitWarning {
  return (warning, ...rest) => {
    if (rest[0] !== "ExperimentalWarning" || !String(warning).startsWith("SQLite is an experimental feature")) {
      emitWarning(warning, ...rest);
    }
  };
}

/**
 * A thread loads SQLite before it runs its first line, so the code that hides the warning has to run before the
 * thread's module.
 */
const hideModule = `data:text/javascript,${encodeURIComponent(`
  const emit = process.emitWarning.bind(process);
  process.emitWarning = (${withoutSqlite})(emit);`)}`;

/** Options for a thread that hide the warning there. */
export const quietThread = isNeeded ? { execArgv: ["--import", hideModule] } : {};
