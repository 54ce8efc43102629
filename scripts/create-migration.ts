// Writes the migrations that bring both databases from the last snapshot to the entities as they are now:
//   npm run migration && npm run format
// Afterwards list the new files in the folders' index.ts.
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { startPostgresql } from "./test-services/postgres-server.ts";

const server = await startPostgresql();
try {
  for (const url of ["sqlite::memory:", await server.createDatabase()]) {
    const storage = await openStorage(url);
    const { fileName } = await storage.orm.migrator.create();
    console.log(`${storage.dialect}: ${fileName === "" ? "nothing to do" : fileName}`);
    await storage.close();
  }
} finally {
  await server.stop();
}
