/**
 * Ends the process without a word once nobody reads its answer, as with `tollgate … | head -1`. Notes that nobody reads
 * are lost, and the command ends as it would have.
 */
export function endWithReader(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") {
      throw error;
    }
    process.exit();
  });
  process.stderr.on("error", () => {});
}
