import { processIo } from "./cli/io.ts";
import { run } from "./cli/program.ts";

// A launcher that was killed cannot pass on that it was: its end is this process's end.
if (process.connected) {
  process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
  process.channel?.unref();
}

process.exitCode = await run(process.argv.slice(2), processIo);
