import { compileNothing } from "#lib/overload/compilers.ts";
import { keepYoungSpaceSmall } from "#lib/overload/young-space.ts";
import { hideSqliteWarning } from "#lib/workarounds/sqlite-warning.ts";
import { run, stays } from "./cli/program.ts";
import { endWithReader, outliveReader } from "./cli/shared/closed-pipe.ts";
import { processIo } from "./cli/shared/io.ts";

// A launcher that was killed cannot pass on that it was: its end is this process's end.
if (process.connected) {
  process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
  process.channel?.unref();
}

hideSqliteWarning();
const args = process.argv.slice(2);
if (stays(args)) {
  // Before it loads what it needs.
  keepYoungSpaceSmall();
  compileNothing();
  outliveReader();
} else {
  endWithReader();
}
const code = await run(args, processIo);
// Parts that started before another failed must not keep the process alive; success runs on or ends by itself.
if (code !== 0) {
  process.exit(code);
}
