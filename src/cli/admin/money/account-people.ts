import { timestampDate } from "@bufbuild/protobuf/wkt";
import { createClient, type Transport } from "@connectrpc/connect";
import { type Command, Option } from "commander";
import { MemberRole } from "#gen/tollgate/access/v1/access_pb.js";
import { PeopleService } from "#gen/tollgate/people/v1/people_service_pb.js";
import type { Member } from "#gen/tollgate/people/v1/person_pb.js";
import { readAll } from "#lib/rpc/pages.ts";
import type { Io } from "../../shared/io.ts";
import { addQuestion } from "../ask-core.ts";
import { findSite } from "../find-console.ts";
import { word } from "../output/documents.ts";

const roles = { viewer: MemberRole.VIEWER, developer: MemberRole.DEVELOPER, owner: MemberRole.OWNER };

interface InviteOptions {
  readonly role: keyof typeof roles;
  readonly email?: string;
  readonly url?: string;
  readonly ca?: string;
}

/** `tollgate accounts members`, `tollgate accounts invite` */
export function addAccountPeople(group: Command, io: Io): void {
  const client = (core: Transport) => createClient(PeopleService, core);
  addQuestion<[string], object>(group, "members <account>", io, {
    description: "list the people who have a place in an account, with their roles",
    ask: async (core, _, accountId) =>
      (
        await readAll(
          (page) => client(core).listMembers({ accountId, ...page }),
          ({ members }) => members,
        )
      ).map(memberDocument),
  });
  addQuestion<[string], InviteOptions>(group, "invite <account>", io, {
    description: "invite somebody into an account, once and within seven days, and show the token, the only time",
    options: (command) =>
      command
        .addOption(
          new Option("--role <role>", "what whoever uses it may do there")
            .choices(Object.keys(roles))
            .makeOptionMandatory(),
        )
        .option("--email <address>", "the only address that may use it; whoever has the token unless set")
        .option(
          "--url <url>",
          "where browsers find the console; site.address, or the console of the core on the data directory, unless set",
        ),
    ask: async (core, options, accountId) => {
      const { role, email = "" } = options;
      const made = await client(core).createInvitation({ accountId, role: roles[role], email });
      const url = options.url?.replace(/\/$/, "") ?? (await findSite(io.environment, options).catch(() => undefined));
      return {
        id: made.invitation?.id ?? "",
        token: made.token,
        url: url === undefined ? null : `${url}/invitation/${made.token}`,
      };
    },
  });
}

export function memberDocument({ personId, role, name, email, createdAt }: Member) {
  return {
    person_id: personId,
    role: word(MemberRole, role),
    name,
    email: email || null,
    created_at: createdAt ? timestampDate(createdAt).toISOString() : null,
  };
}
