import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { openConsole } from "./open-console.ts";

/**
 * Does what a stranger does with the lines that a service has printed: pastes each into another shell, in another folder, and
 * follows the link to the console. Throws at the first that does not work. `path` is where that shell finds programs.
 */
export async function pasteHints(output: string, path: string): Promise<void> {
  const paste = async (line: string) => {
    const { stdout } = await promisify(execFile)("/bin/sh", ["-c", line], { cwd: "/", env: { PATH: path } });
    return stdout;
  };
  const answer = await paste(find(output, /^ +(curl .*\\\n.*)$/m));
  if (!answer.includes("data: [DONE]")) {
    throw new Error(`the printed curl answered ${answer}`);
  }
  const account = await paste(`${find(output, /^ +(.* accounts show .*)$/m)} --json`);
  if (!JSON.parse(account).balance_usd.startsWith("0.99")) {
    throw new Error(`the printed command answered ${account}`);
  }
  await openConsole(find(output, /^ +console +(http:\S+\/link\/\S+)$/m));
}

function find(output: string, hint: RegExp): string {
  const [, line] = hint.exec(output) ?? [];
  if (line === undefined) {
    throw new Error(`there is no ${hint} in ${output}`);
  }
  return line;
}
