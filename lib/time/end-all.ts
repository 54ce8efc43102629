/** Ends parts one after the other, each of them also where others before it failed. Then rejects with the first failure. */
export async function endAll(ends: Iterable<() => unknown>): Promise<void> {
  const failures: unknown[] = [];
  for (const end of ends) {
    try {
      await end();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) {
    throw failures[0];
  }
}
