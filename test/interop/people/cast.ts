import { randomBytes } from "node:crypto";
import { type Client, createClient } from "@connectrpc/connect";
import { MemberRole } from "#gen/tollgate/access/v1/access_pb.js";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { AuditService } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { PeopleService } from "#gen/tollgate/people/v1/people_service_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import type { Dialect } from "../../money/databases.ts";
import { type Identities, startIdentities } from "../../support/identities.ts";
import { newAddress } from "../../support/new-address.ts";
import { type Service, serveModels } from "../../support/service.ts";

const draw = () => randomBytes(32).toString("hex");
const secrets = { TOLLGATE_OPERATOR_TOKEN: draw(), TOLLGATE_KEY_PEPPER: draw() };

/** The accounts in which somebody has a place, with the role. */
type Places = Readonly<Record<string, MemberRole>>;

/** People who sign in at cores that share a database. */
export class Cast {
  readonly services: readonly Omit<Service, "idle">[];
  readonly operator: {
    readonly accounts: Client<typeof AccountsService>;
    readonly people: Client<typeof PeopleService>;
  };
  readonly #first: Omit<Service, "idle">;
  readonly #identities: Identities;
  #people = 0;

  private constructor(services: readonly [Omit<Service, "idle">, ...Omit<Service, "idle">[]], identities: Identities) {
    this.services = services;
    [this.#first] = services;
    this.#identities = identities;
    const transport = this.#first.operator;
    this.operator = {
      accounts: createClient(AccountsService, transport),
      people: createClient(PeopleService, transport),
    };
  }

  /** Starts a core on a new SQLite, two on a new PostgreSQL. */
  static async start(newDatabase: (dialect: Dialect) => Promise<string>, dialect: Dialect): Promise<Cast> {
    const url = await newDatabase(dialect);
    const cores = dialect === "sqlite" ? 1 : 2;
    const identities = await startIdentities("tollgate");
    const models = [{ id: "m", servers: [{ url: "http://127.0.0.1:9" }] }];
    const config = {
      storage: { url },
      sign_in: { oidc: { issuer: identities.issuer, client_id: "tollgate" } },
      sign_up: "invited" as const,
      playground: { usd: "0.5" },
    };
    const serve = () => serveModels(models, config, true, secrets);
    const services: [Omit<Service, "idle">, ...Omit<Service, "idle">[]] = [await serve()];
    while (services.length < cores) {
      services.push(await serve());
    }
    return new Cast(services, identities);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of this.services) {
      await one[Symbol.asyncDispose]();
    }
    await this.#identities[Symbol.asyncDispose]();
  }

  /** A person's calls, to one of the cores. */
  calls(token: string, service = this.#first) {
    const headers = { authorization: `Bearer ${token}`, "x-tollgate-client-address": newAddress() };
    const credential = { headers };
    const clients = {
      accounts: createClient(AccountsService, service.transport),
      people: createClient(PeopleService, service.transport),
      sessions: createClient(SessionsService, service.transport),
      audit: createClient(AuditService, service.transport),
    };
    return { ...clients, credential };
  }

  async newAccount(): Promise<string> {
    return (await this.operator.accounts.createAccount({})).account?.id ?? "";
  }

  /** Somebody who has signed in, with a place in accounts, the first of which is open. */
  async signIn(places: Places, email?: string, emailVerified = true) {
    this.#people += 1;
    const claims = { sub: `s${this.#people}`, name: `Person ${this.#people}`, email, email_verified: emailVerified };
    const client = createClient(SessionsService, this.#first.transport);
    const headers = { "x-tollgate-client-address": newAddress() };
    const { session, token } = await this.#identities.signIn(client, claims, { headers });
    const guest = this.calls(token);
    for (const [accountId, role] of Object.entries(places)) {
      const invited = await this.operator.people.createInvitation({ accountId, role });
      await guest.people.acceptInvitation({ token: invited.token }, guest.credential);
    }
    const [accountId] = Object.keys(places);
    const opened = accountId && (await guest.sessions.switchAccount({ accountId }, guest.credential)).token;
    return { personId: session?.personId ?? "", token: opened || token, ...this.calls(opened || token) };
  }

  /** An account with an owner who has signed in. */
  async own(more: Places = {}) {
    const accountId = await this.newAccount();
    return { accountId, owner: await this.signIn({ [accountId]: MemberRole.OWNER, ...more }) };
  }
}
