import { setFlagsFromString } from "node:v8";

/** V8's compilers: what each compiles is named by a filter, whose default is everything and which no other flag touches. */
const compilers = ["sparkplug", "maglev", "turbo"];
const nothing = "~";
const everything = "*";

/** A start that takes longer has work of its own, such as a long journal, which compiled code does sooner. */
const longestMs = 5000;

/**
 * Has V8 interpret what a start runs, most of it once. Compiled, it would start no sooner, and an idle process would keep
 * the code, what the compilers worked with, and the compilers' own pages of the program of Node.js: 16 MiB.
 */
export function compileNothing(): void {
  compile(nothing);
  setTimeout(compileAll, longestMs).unref();
}

/** Lets V8 compile what runs often from now on. A repeated call changes nothing. */
export function compileAll(): void {
  compile(everything);
}

function compile(filter: string): void {
  for (const compiler of compilers) {
    setFlagsFromString(`--${compiler}-filter=${filter}`);
  }
}
