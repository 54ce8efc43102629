import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The program of the page. */
const page = readFileSync(fileURLToPath(new URL("../../../../docs/statement.md", import.meta.url)), "utf8");
const python = /```python\n(.*?)```/s.exec(page)?.[1] ?? "";

/** Runs the page's own program on a statement's file. */
export const askPython = (file: string): Promise<{ readonly code: number; readonly text: string }> =>
  promisify(execFile)("python3", ["-c", python, file]).then(
    ({ stdout }) => ({ code: 0, text: stdout }),
    ({ code, stderr }) => ({ code: Number(code), text: String(stderr) }),
  );
