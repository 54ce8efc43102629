import { Migration } from "@mikro-orm/migrations";

/** What events have told of balances and budgets, and the receipts that a receiver of usage events is still to get. */
export class Migration20261122120000 extends Migration {
  override name = "Migration20261122120000";

  override up(): void | Promise<void> {
    this.addSql(
      `alter table \`account\` add column \`balance_told\` text check (\`balance_told\` in ('ample', 'low', 'exhausted')) not null default 'ample';`,
    );
    this.addSql(`alter table \`account\` add column \`last_paid\` bigint null;`);
    this.addSql(
      `update account set last_paid = (
         select amount from payment where account_id = account.id and kind = 'paid' order by at desc limit 1);`,
    );
    this.addSql(`alter table \`budget\` add column \`told\` integer not null default 0;`);
    this.addSql(`alter table \`usage_tally\` add column \`seen\` integer not null default false;`);
    this.addSql(`create index \`usage_tally_unseen\` on \`usage_tally\` (\`hour\`) where not seen;`);

    this.addSql(
      `create table \`usage_event\` (\`request_id\` text not null, \`run_id\` text not null, \`at\` datetime not null, primary key (\`request_id\`, \`run_id\`));`,
    );
    this.addSql(
      `create index \`usage_event_at_request_id_run_id_index\` on \`usage_event\` (\`at\`, \`request_id\`, \`run_id\`);`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table \`usage_event\`;`);
    this.addSql(`drop index \`usage_tally_unseen\`;`);
    this.addSql(`alter table \`usage_tally\` drop column \`seen\`;`);
    this.addSql(`alter table \`budget\` drop column \`told\`;`);
    this.addSql(`alter table \`account\` drop column \`balance_told\`;`);
    this.addSql(`alter table \`account\` drop column \`last_paid\`;`);
  }
}
