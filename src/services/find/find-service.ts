import type { ServiceImpl } from "@connectrpc/connect";
import type { FindService } from "#gen/tollgate/find/v1/find_service_pb.js";
import { readPastedId } from "#lib/ids/request-id.ts";
import type { ArchivedReceipts } from "#src/money/books/receipts/archived-receipts.ts";
import type { Storage } from "#src/storage/storage.ts";
import { readPrincipal, seesAccountName, visibleAccount } from "#src/wire/interceptors/access/principal.ts";
import { findArchived } from "./find-archived.ts";
import { findStored } from "./find-stored.ts";
import type { Found } from "./found.ts";

interface Dependencies {
  readonly storage: Storage;
  readonly archives: Pick<ArchivedReceipts, "find">;
  readonly models: () => readonly { readonly id: string }[];
  readonly servers: () => readonly { readonly id: string; readonly model: string }[];
}

const sizes = { usual: 10, most: 100 };

/** Looks for anything by a word that somebody has at hand. */
export function createFindService({
  storage,
  archives,
  models,
  servers,
}: Dependencies): ServiceImpl<typeof FindService> {
  return {
    async findAnything({ text, pageSize }, context) {
      const wanted = readPastedId(text);
      if (wanted === "") {
        return { found: [] };
      }
      const limit = Math.min(pageSize || sizes.usual, sizes.most);
      const isOperator = readPrincipal(context).kind === "operator";
      const accountId = visibleAccount(context, "");
      const namesAccounts = seesAccountName(context);
      const stored = await findStored(storage, { text: wanted, accountId, namesAccounts, limit });
      const archived = stored.length > 0 ? [] : await findArchived(archives, wanted, accountId);
      const isLike = ({ id }: { readonly id: string }) => id.toLowerCase().includes(wanted.toLowerCase());
      const ofFleet: Found[] = [
        ...models()
          .filter(isLike)
          .map(({ id }) => ({ kind: "model", id, name: "", accountId: "" }) as const)
          .slice(0, limit),
        ...(isOperator ? servers() : [])
          .filter(isLike)
          .map(({ id, model }) => ({ kind: "server", id, name: model, accountId: "" }) as const)
          .slice(0, limit),
      ];
      return { found: [...stored, ...archived, ...ofFleet] };
    },
  };
}
