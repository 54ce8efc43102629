import { Migration } from "@mikro-orm/migrations";

/**
 * What a core does that knows of one database alone, such as an older one that still runs, is told apart in the first of several, too:
 * the reference of a payment and the request that makes an account are claimed here with it, or refused when they stand for an account
 * of another database. Forward only.
 */
export class Migration20261123040000 extends Migration {
  override name = "Migration20261123040000";

  override up(): void | Promise<void> {
    this.#claim("payment", "reference", "account_id", "new.kind <> 'free' and not new.copied");
    this.#claim("account", "request_id", "id", "new.request_id is not null");
  }

  #claim(table: string, name: string, account: string, condition: string): void {
    this.addSql(
      `create function ${table}_claim() returns trigger language plpgsql set search_path from current as '
       declare
         owner uuid;
       begin
         if exists (select from setting where name = ''shards'') then
           insert into claim (kind, name, account_id) values (''${table}'', new.${name}, new.${account}) on conflict do nothing;
           select account_id into owner from claim where kind = ''${table}'' and name = new.${name};
           if owner is distinct from new.${account} then
             raise unique_violation using message = ''it stands for an account of another database'';
           end if;
         end if;
         return new;
       end';`,
    );
    this.addSql(
      `create trigger ${table}_claim before insert on "${table}" for each row when (${condition}) execute function ${table}_claim();`,
    );
  }
}
