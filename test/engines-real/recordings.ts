import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Exchange } from "./tee.ts";

const folder = fileURLToPath(new URL("../fleet/engines/recordings", import.meta.url));

/** Keeps the bytes of an engine's answer, as they came: `test/fleet/engines/recordings/ENGINE/ROW.txt`. */
export function keepRecording(engine: string, row: string, { pieces }: Exchange): void {
  mkdirSync(join(folder, engine), { recursive: true });
  writeFileSync(join(folder, engine, `${row.replaceAll(" ", "-")}.txt`), Buffer.concat(pieces));
}
