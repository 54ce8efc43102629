import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Interceptor } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { systemRandom } from "#lib/ids/random.ts";
import { ReadReceipts } from "#src/money/retention/archived-receipts.ts";
import { archiveFolder } from "#src/money/retention/folder.ts";
import { ArchiveReader } from "#src/money/retention/read-archive.ts";
import { createMeteringService } from "#src/services/metering/metering-service.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { startGrpcServer } from "#src/wire/grpc/server/server.ts";
import { principalKey } from "#src/wire/interceptors/access/principal.ts";
import { dialects } from "../../../../money/databases.ts";
import { settledDays } from "../../../../money/retention/settled-days.ts";
import { operator } from "../../../../services/metering/served-metering.ts";
import { runHere } from "../../../../support/run-here.ts";

// Of receipts that have left the books, usage is known by whole hours alone.

const live = settledDays();
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-export-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const asOperator: Interceptor = (next) => (request) => {
  request.contextValues.set(principalKey, operator);
  return next(request);
};

describe.each(dialects)("%s", (dialect) => {
  test("an export of receipts is taken up, begun and ended within an hour of an archived day, and so is FOCUS", async () => {
    const { storage, clock, directory, midnight, retention, close } = await live(dialect);
    await retention().work();
    const archives = new ReadReceipts(storage, new ArchiveReader(archiveFolder(directory, systemRandom)));
    const metering = createMeteringService({ storage, clock, archives, labels: [] });
    const core = await startGrpcServer({
      address: "127.0.0.1:0",
      services: [registration(MeteringService, metering)],
      interceptors: [asOperator],
    });
    const write = async (what: string, file: string, ...options: string[]) => {
      const asked = ["export", what, join(folder, `${dialect}-${file}`), ...options, "--json", "--core", core.address];
      const { code, output, notes } = await runHere(asked, { TOLLGATE_OPERATOR_TOKEN: "secret" });
      return code === 0 ? JSON.parse(output).rows : notes;
    };
    const all = ["--to", new Date(midnight + 3_600_000).toISOString()]; // the books are ahead of this machine's time
    try {
      expect(await write("receipts", "receipts.jsonl", ...all)).toBe(10);
      const file = join(folder, `${dialect}-receipts.jsonl`);
      const text = readFileSync(file, "utf8");
      const lines = text.trimEnd().split("\n");
      const receipts = lines.map((line) => JSON.parse(line));
      expect(receipts.map(({ archived }) => archived)).toEqual(lines.map((_, at) => at >= 3));
      writeFileSync(file, lines.slice(0, 5).join("\n"));
      expect(await write("receipts", "receipts.jsonl", ...all, "--resume")).toBe(6);
      expect(readFileSync(file, "utf8")).toBe(text);

      const fifth = receipts[4].settled_at;
      expect(new Date(fifth).getTime() % 3_600_000).not.toBe(0);
      const newer = receipts.filter(({ settled_at }) => settled_at >= fifth).length;
      const [since, until] = [
        [...all, "--from", fifth],
        ["--to", fifth],
      ];
      expect(await write("receipts", "since.jsonl", ...since)).toBe(newer);
      expect(await write("receipts", "until.jsonl", ...until)).toBe(10 - newer);
      for (const span of [since, until]) {
        expect(await write("usage", `focus-${span.length}.csv`, "--format", "focus", ...span)).toBeGreaterThan(0);
        expect(await write("usage", `usage-${span.length}.jsonl`, ...span)).toContain("must be a whole one");
      }
    } finally {
      await core.stop(0);
      await clock.until(close());
    }
  }, 60_000);
});
