// Loads a test file with Node.js's own loader, in place of jest's. What a test tests is loaded once for all the files that a
// worker runs, as a program loads it; what is in test/ once for each file, since it may hold state and hooks of that file.
import { createRequire, registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import type { Config } from "@jest/types";
import type Environment from "./environment.ts";
import "./entities-once.ts";

type Globals = Record<string, unknown>;

const require = createRequire(import.meta.url);
const tests = new URL("../../test/", import.meta.url).href;
/** The query of the modules that are a file's own. */
const ownQuery = /\?run=(\d+)$/;
const globalsScheme = "test-globals:";
const globalsOfRun = new Map<number, Globals>();
let runs = 0;

registerHooks({
  resolve(specifier, context, next) {
    const [query, run] = ownQuery.exec(context.parentURL ?? "") ?? [];
    if (query === undefined) {
      return next(specifier, context);
    }
    if (specifier === "@jest/globals") {
      return { url: globalsScheme + run, format: "module", shortCircuit: true };
    }
    const resolved = next(specifier, context);
    return resolved.url.startsWith(tests) && resolved.url.endsWith(".ts")
      ? { ...resolved, url: resolved.url + query }
      : resolved;
  },
  load(url, context, next) {
    if (!url.startsWith(globalsScheme)) {
      return next(url, context);
    }
    const run = Number(url.slice(globalsScheme.length));
    const names = Object.keys(globalsOfRun.get(run) ?? {});
    const source = `export const { ${names.join(", ")} } = globalThis[Symbol.for(${JSON.stringify(globalsScheme)})].get(${run});`;
    return { format: "module", source, shortCircuit: true };
  },
});
Reflect.set(globalThis, Symbol.for(globalsScheme), globalsOfRun);

/** What jest's runner asks of a runtime, without mocks of modules, transforms and coverage. */
export default class Runtime {
  readonly #environment: Environment;
  readonly #run = ++runs;

  constructor(_config: Config.ProjectConfig, environment: Environment) {
    this.#environment = environment;
  }

  // biome-ignore lint/style/useNamingConvention: jest's name for it
  unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  // biome-ignore lint/style/useNamingConvention: jest's name for it
  unstable_importModule(path: string): Promise<unknown> {
    return import(`${pathToFileURL(path).href}?run=${this.#run}`);
  }

  /** Loads jest-circus, whose state is that of one file. */
  requireInternalModule(path: string): unknown {
    delete require.cache[path];
    return require(path);
  }

  requireModule(path: string): unknown {
    return require(path);
  }

  setGlobalsForRuntime(globals: Globals): void {
    globalsOfRun.set(this.#run, { ...globals, jest: this.#jest() });
  }

  getSourceMaps(): Map<string, string> {
    return new Map();
  }

  getAllCoverageInfoCopy(): undefined {}

  enterTestCode(): void {}

  leaveTestCode(): void {}

  teardown(): void {
    globalsOfRun.delete(this.#run);
  }

  /** What the tests use of the `jest` object. */
  #jest() {
    const { moduleMocker, fakeTimersModern: timers } = this.#environment;
    return {
      spyOn: moduleMocker.spyOn.bind(moduleMocker),
      restoreAllMocks: () => moduleMocker.restoreAllMocks(),
      useFakeTimers: (options?: Config.FakeTimersConfig) => timers.useFakeTimers(options),
      useRealTimers: () => timers.useRealTimers(),
      advanceTimersByTime: (milliseconds: number) => timers.advanceTimersByTime(milliseconds),
      setTimeout: (milliseconds: number) => Reflect.set(globalThis, Symbol.for("TEST_TIMEOUT_SYMBOL"), milliseconds),
    };
  }
}
