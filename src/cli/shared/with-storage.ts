import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";

/** Opens a storage for some work and closes it, whatever comes of the work. */
export async function withStorage<T>(url: string, work: (storage: Storage) => Promise<T>): Promise<T> {
  const storage = await openStorage(url);
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}
