// Runs a test file among the worker's own globals, which are as they were when it is done: jest's environment would be a context
// of its own, in which every module would have to be compiled and evaluated anew for each file.
import { ModernFakeTimers } from "@jest/fake-timers";
import type { Config } from "@jest/types";
import { ModuleMocker } from "jest-mock";

/** What `jest.setTimeout` leaves for the tests of its file. */
const timeoutOfFile = Symbol.for("TEST_TIMEOUT_SYMBOL");
/** What a failure tells of where it came about. Each error that a test makes or expects pays for as many. */
const mostFrames = 30;

export default class Environment {
  readonly global = globalThis;
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly fakeTimers = null;
  readonly fakeTimersModern: ModernFakeTimers;
  // When this is made jest has not yet put its own in their places.
  readonly #console = console;
  readonly #exit = process.exit;
  readonly #env = { ...process.env };
  readonly #messageListeners = process.listeners("message");

  constructor({ projectConfig }: { projectConfig: Config.ProjectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup(): Promise<void> {
    // Nothing is compiled, so that Node.js itself names the right lines, in a tenth of the time: some libraries ask for the stack of
    // every call.
    Reflect.deleteProperty(Error, "prepareStackTrace");
    Error.stackTraceLimit = mostFrames;
  }

  async teardown(): Promise<void> {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    Reflect.deleteProperty(globalThis, timeoutOfFile);
    globalThis.console = this.#console;
    process.exit = this.#exit;
    for (const name of Object.keys(process.env)) {
      if (!(name in this.#env)) {
        delete process.env[name];
      }
    }
    Object.assign(process.env, this.#env);
    // A library that waits for messages of a parent would keep the worker from ending.
    for (const listener of process.listeners("message")) {
      if (!this.#messageListeners.includes(listener)) {
        process.removeListener("message", listener);
      }
    }
  }

  exportConditions(): string[] {
    return [];
  }

  getVmContext(): null {
    return null;
  }
}
