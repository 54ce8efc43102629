import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { FindAnythingRequestSchema } from "#gen/tollgate/find/v1/find_service_pb.js";
import { createFindService } from "#src/services/find/find-service.ts";
import { Account, toNameKey } from "#src/storage/entities/account.ts";
import type { Principal } from "#src/wire/principal.ts";
import { databases, dialects } from "../../money/databases.ts";
import { openMetering } from "../../money/fixture.ts";
import { as, caller, operator } from "../metering/served-metering.ts";

const newDatabase = databases();

test.each(dialects)(
  "operators and people find an account by its name, and its keys do by its id alone, without its name, on %s",
  async (dialect) => {
    const metering = await openMetering({ url: await newDatabase(dialect) });
    const { storage } = metering;
    const id = await metering.account({});
    const name = "Badly paying ABCD";
    await storage.orm.em.fork().nativeUpdate(Account, id, { name, nameKey: toNameKey(name) });
    const service = createFindService({
      storage,
      archives: { find: async () => [] },
      models: () => [],
      servers: () => [],
    });
    const find = async (principal: Principal, text: string) => {
      const { found = [] } = await service.findAnything(create(FindAnythingRequestSchema, { text }), as(principal));
      return found.map((thing) => `${thing.kind} ${thing.id} ${thing.name}`);
    };
    const person: Principal = { kind: "caller", accountId: id, keyId: "", personId: "p" };
    for (const principal of [operator, person]) {
      for (const text of [id, id.slice(0, 13), "badly", "ABCD"]) {
        expect(await find(principal, text)).toEqual([`account ${id} ${name}`]);
      }
    }
    for (const text of [id, id.slice(0, 13)]) {
      expect(await find(caller(id), text)).toEqual([`account ${id} `]);
    }
    for (const text of ["badly", "ABCD"]) {
      expect(await find(caller(id), text)).toEqual([]);
    }
    await metering.close();
  },
);
