import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll } from "@jest/globals";
import pg from "pg";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { defaultFleetConfig, startDefaultFleet } from "../../../simulator/fleet.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../../support/tollgate.ts";

const postgres = process.env.TOLLGATE_TEST_POSTGRES_URL ?? "";
export const redis = process.env.TOLLGATE_TEST_REDIS_URL ?? "";

/** An account with money and a key of it. */
export interface Customer {
  readonly account: string;
  readonly id: string;
  readonly key: string;
}

/** Two cores and a facade in processes of their own, on a real PostgreSQL and a real Redis. */
export interface TwoCores {
  /** Those that run. */
  readonly cores: readonly Tollgate[];
  /** Runs an admin command against the last core. */
  admin(...args: string[]): Promise<unknown>;
  /** `rpm`: the limit of its key. */
  customer(rpm: string): Promise<Customer>;
  /** Asks the facade. */
  ask(key: string, content?: string): Promise<Response>;
  /** The cores' own doors: Connect and gRPC of each. */
  doors(): readonly Transport[];
  /** Kills the first core. */
  killFirst(): Promise<void>;
  /** Starts the first core again, with what it left. */
  restartFirst(): Promise<void>;
}

/** Starts them before the tests of a file, and ends them after. */
export function twoCores(): TwoCores {
  const database = `tollgate_scaled_${process.pid}`;
  let sites: Site[] = [];
  let fleet: Awaited<ReturnType<typeof startDefaultFleet>> = [];
  let cores: readonly Tollgate[] = [];
  let facade: Tollgate | undefined;
  const startCore = async (site: Site) => {
    const config = { ...freePorts, models: defaultFleetConfig(fleet) };
    return startTollgate(site, "core", "--config", await site.configure(config));
  };
  beforeAll(async () => {
    await onServer(`create database ${database}`);
    const url = new URL(postgres);
    url.pathname = `/${database}`;
    const shared = {
      TOLLGATE_STORAGE_URL: url.href,
      TOLLGATE_RATE_LIMIT_URL: redis,
      TOLLGATE_OPERATOR_TOKEN: "operator-token-of-the-test-0123456789",
      TOLLGATE_KEY_PEPPER: "pepper-of-the-test-0123456789abcdef-0123456789",
    };
    fleet = await startDefaultFleet({ speed: 0 });
    sites = await Promise.all([createSite(shared), createSite(shared), createSite(shared)]);
    const [first, second, third] = sites as [Site, Site, Site];
    cores = [await startCore(first), await startCore(second)];
    const target = `ipv4:${cores.map(({ addresses }) => addresses.grpc).join(",")}`;
    facade = await startTollgate(third, "facade", "--core", target, "--config", await third.configure(freePorts));
  }, 90_000);
  afterAll(async () => {
    await Promise.all([facade, ...cores].map((tollgate) => tollgate?.stop()));
    await Promise.all(fleet.map((simulator) => simulator.close()));
    await Promise.all(sites.map((site) => site.remove()));
    await onServer(`drop database if exists ${database} with (force)`);
  }, 90_000);
  const admin: TwoCores["admin"] = async (...args) => cores.at(-1)?.admin(...args);
  return {
    get cores() {
      return cores;
    },
    admin,
    async customer(rpm) {
      const { id: account } = (await admin("accounts", "create", "--name", "customer")) as { id: string };
      await admin("accounts", "top-up", account, "--usd", "10", "--ref", `payment-${account}`);
      return { account, ...((await admin("keys", "create", account, "--rpm", rpm)) as { id: string; key: string }) };
    },
    ask: (key, content = "Tell me about toll gates.") =>
      fetch(`${facade?.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({ model: "tollgate-sim/plain", max_tokens: 20, messages: [{ role: "user", content }] }),
      }),
    doors: () =>
      cores.flatMap(({ addresses }) => [
        createConnectTransport({ baseUrl: `http://${addresses.connect}`, httpVersion: "1.1" }),
        createGrpcTransport({ baseUrl: `http://${addresses.grpc}` }),
      ]),
    async killFirst() {
      const [victim, ...others] = cores;
      await victim?.stop("SIGKILL");
      cores = others;
    },
    async restartFirst() {
      cores = [await startCore(sites[0] as Site), ...cores];
    },
  };
}

async function onServer(statement: string): Promise<void> {
  const client = new pg.Client(postgres);
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

/** Asks a core at a door of its own. Returns the output tokens that were counted, or why it was refused. */
export async function generate(
  door: Transport,
  key: string,
  asked: Parameters<Client<typeof InferenceService>["generate"]>[0],
): Promise<number | string> {
  const options = { headers: { authorization: `Bearer ${key}` } };
  let tokens = 0;
  try {
    const request = { model: "tollgate-sim/plain", ...asked };
    for await (const { events } of createClient(InferenceService, door).generate(request, options)) {
      for (const { event } of events) {
        if (event.case === "finished") {
          tokens = Number(event.value.usage?.outputTokens ?? 0n);
        }
      }
    }
  } catch (error) {
    return String(Reason[readDetail(error)?.reason ?? 0]);
  }
  return tokens;
}
