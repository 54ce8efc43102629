import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { stripePath } from "#src/checkout/webhook.ts";
import { startChromium } from "../../../scripts/test-services/chromium.ts";
import { type StandIn, startStripe } from "../../../simulator/stripe/server.ts";
import { eventually } from "../../support/eventually.ts";
import { createSite, freePorts, startTollgate, type Tollgate } from "../../support/tollgate.ts";
import { startIdentityProvider } from "./identity-provider.ts";

/** Where people of the identity provider have their addresses. */
export const mailHost = "people.example";

/** A browser in front of a console, with the simulated fleet behind it. */
export interface Stage {
  readonly tollgate: Tollgate;
  /** The file of its storage. */
  readonly database: string;
  /** Where credit is paid. */
  readonly stripe: StandIn;
  /** http://host:port of the console. */
  readonly origin: string;
  readonly browser: Browser;
  /** A visitor without cookies. What the browser complains of is collected. */
  visit(options?: Parameters<Browser["newContext"]>[0]): Promise<{ context: BrowserContext; page: Page }>;
  /** A link that signs an operator in once. */
  makeLink(role?: string): Promise<string>;
  /** Policies that were broken and errors that nobody caught, in the browser. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

interface Options {
  /** A mail server, which the identity provider's people have addresses for. */
  readonly mailUrl?: string;
  /** Where links in mails lead, which decides for providers and passkeys, too. */
  readonly address?: string;
  /** What the configuration has besides, such as models in place of the simulated fleet. */
  readonly config?: object;
}

export async function openStage({ mailUrl, address, config: own }: Options = {}): Promise<Stage> {
  const stripe = await startStripe({ host: "127.0.0.1", port: 0 });
  const secret = "whsec_of_the_stage";
  const site = await createSite({ STRIPE_KEY: "sk_test_stage", TOLLGATE_STRIPE_WEBHOOK_SECRET: secret });
  const clientId = "tollgate";
  const identities = await startIdentityProvider(clientId, mailUrl === undefined ? {} : { mailHost });
  const oidc = { issuer: identities.issuer, client_id: clientId, name: "Test identities" };
  const listen = { ...freePorts.listen, console: "127.0.0.1:0" };
  const payments = { stripe: { secret_key_env: "STRIPE_KEY", api_url: stripe.url } };
  const mail = mailUrl && { from: "Tollgate <no-reply@example.com>", smtp: { url: mailUrl } };
  const more = { ...(mail && { mail }), ...(address && { site: { address } }) };
  const webhooks = { allow: ["127.0.0.0/8"] };
  const labels = { keep: [{ name: "app", from: "header:x-title" }] };
  const fixed = { listen, sign_in: { oidc }, sign_up: "open", payments, webhooks, labels };
  const config = await site.configure({ ...fixed, ...more, ...own });
  const [tollgate, browser] = await Promise.all([startTollgate(site, "serve", "--config", config), startChromium()]);
  const head = stripe.state.head("we", "webhook_endpoint" as const);
  const url = `http://${tollgate.addresses.webhooks}${stripePath}`;
  stripe.state.endpoints.set(head.id, { ...head, url, secret, status: "enabled", metadata: {}, enabled_events: ["*"] });
  const origin = `http://${tollgate.addresses.console}`;
  const complaints: string[] = [];
  return {
    ...{ tollgate, database: join(site.folder, "data/tollgate.db") },
    ...{ stripe, origin, browser },
    complaints,
    async visit(options) {
      if (tollgate.process.exitCode !== null || tollgate.process.signalCode !== null) {
        const last = tollgate.log.slice(-10).map((line) => JSON.stringify(line));
        throw new Error(`tollgate has ended by itself (${tollgate.process.exitCode}):\n${last.join("\n")}`);
      }
      const context = await browser.newContext({ locale: "en-US", baseURL: origin, ...options });
      const page = await context.newPage();
      page.setDefaultTimeout(20_000);
      leaveDialogsFirst(page);
      page.on("pageerror", (error) => complaints.push(error.message));
      page.on("console", (message) => {
        if (/Content.Security.Policy|Trusted/i.test(message.text())) {
          complaints.push(message.text());
        }
      });
      return { context, page };
    },
    async makeLink(role = "owner") {
      const { url } = (await tollgate.admin("console-link", "--role", role, "--url", origin)) as { url: string };
      return url;
    },
    async close() {
      await browser.close();
      await tollgate.stop();
      await Promise.all([identities.close(), stripe.close()]);
      await site.remove();
    },
  };
}

const hasLeftDialogs = "history.state?.ofDialogs !== true || document.querySelector('dialog[open]') !== null";

/** Has a page be left only once a dialog that was closed has given its entry of the history back: that would stop who goes on. */
function leaveDialogsFirst(page: Page): void {
  const goto = page.goto.bind(page);
  page.goto = async (url, options) => {
    await eventually("no dialog that was closed is in the history", () => page.evaluate(hasLeftDialogs));
    return goto(url, options);
  };
}

/** The exact amount that a page shows under a name, in pico-USD; of several the first. */
export async function readAmount(page: Page, name: string): Promise<bigint> {
  const shown = page.locator(`[data-name="${name}"]`).first();
  return BigInt((await shown.getAttribute("data-pico-usd")) ?? "");
}
