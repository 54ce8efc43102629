import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { freePort } from "./free-port.ts";

/** A server that speaks S3's protocol over HTTP and checks signatures. */
export interface S3Server {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  stop(): Promise<void>;
}

/** Ends with the process that started it, whatever ends that one. */
const program = `const [options] = process.argv.slice(1);
process.stdin.on("end", () => process.exit()).resume();
new (require("@20minutes/s3rver"))(JSON.parse(options)).run().then(() => console.log("listening"));`;

/** Starts one with a bucket, in a process of its own. */
export async function startS3(bucket: string): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), "tollgate-s3-"));
  const port = await freePort();
  const address = "127.0.0.1";
  const options = JSON.stringify({ directory, port, address, silent: true, configureBuckets: [{ name: bucket }] });
  const cwd = fileURLToPath(new URL("../../", import.meta.url));
  const server = spawn(process.execPath, ["-e", program, options], { cwd, stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(server, "exit");
  await Promise.race([once(createInterface(server.stdout), "line"), exited]);
  if (server.exitCode !== null) {
    throw new Error("the S3 server did not come up");
  }
  return {
    endpoint: `http://${address}:${port}`,
    ...{ accessKeyId: "S3RVER", secretAccessKey: "S3RVER" },
    async stop() {
      server.kill();
      await exited;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
