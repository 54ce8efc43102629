/**
 * Ends the process without a word once nobody reads its answer, as with `tollgate … | head -1`, and with one where the answer
 * cannot be written, as to a full disk. Notes that nobody reads are lost, and the command ends as it would have.
 */
export function endWithReader(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") {
      process.stderr.write(`tollgate: the answer cannot be written: ${error.message}\n`);
      process.exit(1);
    }
    process.exit();
  });
  process.stderr.on("error", () => {});
}
