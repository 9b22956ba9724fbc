-- What tools ask, as it is known of them. {reading} stands for the OID of a table.

--- dbeaver session
SELECT version(), current_schema(), session_user, current_database()

--- dbeaver database
SELECT db.oid, db.* FROM pg_catalog.pg_database db WHERE datname = $1
-- $ homes

--- dbeaver encodings
SELECT pg_catalog.pg_encoding_to_char(db.encoding), db.datistemplate FROM pg_catalog.pg_database db WHERE datallowconn AND NOT datistemplate OR db.datname = current_database() ORDER BY db.datname

--- dbeaver schemas
SELECT n.oid, n.*, d.description FROM pg_catalog.pg_namespace n
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = n.oid AND d.objsubid = 0 AND d.classoid = 'pg_namespace'::regclass
ORDER BY nspname

--- dbeaver types
SELECT t.oid, t.*, c.relkind, format_type(nullif(t.typbasetype, 0), t.typtypmod) AS base_type_name, d.description
FROM pg_catalog.pg_type t
LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid = t.typelem
LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid = d.objoid
WHERE t.typname IS NOT NULL AND (c.relkind IS NULL OR c.relkind = 'c') AND (et.typcategory IS NULL OR et.typcategory <> 'C')

--- dbeaver tables
SELECT c.oid, c.*, d.description, pg_catalog.pg_get_expr(c.relpartbound, c.oid) AS partition_expr, pg_catalog.pg_get_partkeydef(c.oid) AS partition_key
FROM pg_catalog.pg_class c
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass
WHERE c.relnamespace = 2200 AND c.relkind NOT IN ('i', 'I', 'c')

--- dbeaver columns
SELECT c.relname, a.*, pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) AS def_value, dsc.description, dep.objid
FROM pg_catalog.pg_attribute a
INNER JOIN pg_catalog.pg_class c ON (a.attrelid = c.oid)
LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid = ad.adrelid AND a.attnum = ad.adnum)
LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid = dsc.objoid AND a.attnum = dsc.objsubid)
LEFT OUTER JOIN pg_depend dep ON dep.refobjid = a.attrelid AND dep.deptype = 'i' AND dep.refobjsubid = a.attnum AND dep.classid = dep.refclassid
WHERE NOT a.attisdropped AND c.oid = {reading} ORDER BY a.attnum

--- dbeaver keys
SELECT c.oid, c.*, t.relname AS tabrelname, rt.relnamespace AS refnamespace, d.description, null AS consrc_copy
FROM pg_catalog.pg_constraint c
INNER JOIN pg_catalog.pg_class t ON t.oid = c.conrelid
LEFT OUTER JOIN pg_catalog.pg_class rt ON rt.oid = c.confrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_constraint'::regclass
WHERE c.conrelid = {reading} ORDER BY c.oid

--- dbeaver roles and settings
SELECT a.oid, a.*, (SELECT setting FROM pg_catalog.pg_settings WHERE name = 'search_path') AS path FROM pg_catalog.pg_roles a ORDER BY a.rolname

--- dbeaver regclass
SELECT 'public.reading'::regclass::oid

--- grafana tables
SELECT CASE WHEN quote_ident(table_schema) IN (SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
  FROM generate_series(array_lower(string_to_array(current_setting('search_path'), ','), 1), array_upper(string_to_array(current_setting('search_path'), ','), 1)) AS i,
  string_to_array(current_setting('search_path'), ',') s)
 THEN quote_ident(table_name) ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table"
FROM information_schema.tables
WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog', '_timescaledb_cache')
ORDER BY 1

--- grafana columns
SELECT quote_ident(column_name) AS "column", data_type AS "type" FROM information_schema.columns
WHERE quote_ident(table_schema) || '.' || quote_ident(table_name) = 'public.reading' OR quote_ident(table_name) = 'reading'

--- grafana series
SELECT floor(extract(epoch from hour) / 3600) * 3600 AS "time", avg(temperature) AS "value" FROM reading
WHERE hour BETWEEN '2024-01-01T00:00:00Z' AND '2024-12-31T00:00:00Z' GROUP BY 1 ORDER BY 1

--- grafana version
SELECT current_setting('server_version_num')::int / 100 AS version

--- metabase schemas
SELECT nspname AS schema FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' AND has_schema_privilege(nspname, 'USAGE')

--- metabase tables
SELECT n.nspname AS schema, c.relname AS name, CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'v' THEN 'VIEW' ELSE NULL END AS type, d.description,
 NULLIF(c.reltuples, -1)::bigint AS estimated_row_count
FROM pg_catalog.pg_class AS c
INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace = n.oid
LEFT JOIN pg_catalog.pg_description AS d ON c.oid = d.objoid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass
WHERE c.relnamespace = n.oid AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND c.relkind IN ('r', 'p', 'v', 'f', 'm')
ORDER BY type ASC, schema ASC, name ASC

--- metabase columns
SELECT c.column_name AS name, CASE WHEN c.udt_schema IN ('public', 'pg_catalog') THEN FORMAT('%s', c.udt_name) ELSE c.udt_name END AS "database-type",
 c.ordinal_position - 1 AS "database-position", c.table_schema AS "table-schema", c.table_name AS "table-name", pk.column_name IS NOT NULL AS "pk?",
 COL_DESCRIPTION(CAST(CAST(FORMAT('%s.%s', CAST(c.table_schema AS TEXT), CAST(c.table_name AS TEXT)) AS REGCLASS) AS OID), c.ordinal_position) AS "field-comment"
FROM information_schema.columns AS c
LEFT JOIN (SELECT tc.table_schema, tc.table_name, kc.column_name FROM information_schema.table_constraints AS tc
 INNER JOIN information_schema.key_column_usage AS kc ON tc.constraint_name = kc.constraint_name AND tc.table_schema = kc.table_schema AND tc.table_name = kc.table_name
 WHERE tc.constraint_type = 'PRIMARY KEY') AS pk ON c.table_schema = pk.table_schema AND c.table_name = pk.table_name AND c.column_name = pk.column_name
WHERE c.table_schema !~ '^information_schema|catalog_history|pg_' AND c.table_schema IN ('public')
ORDER BY "table-schema", "table-name", "database-position"

--- metabase privileges
with table_privileges as (select NULL as role, t.schemaname as schema, t.objectname as table,
 pg_catalog.has_table_privilege(current_user, '"' || t.schemaname || '"' || '.' || '"' || t.objectname || '"', 'SELECT') as select
 from (select schemaname, tablename as objectname from pg_catalog.pg_tables union select schemaname, viewname as objectname from pg_views) t
 where t.schemaname !~ '^pg_' and t.schemaname <> 'information_schema' and pg_catalog.has_schema_privilege(current_user, t.schemaname, 'USAGE'))
select t.* from table_privileges t

--- metabase sample
SELECT "public"."reading"."home" AS "home", DATE_TRUNC('month', CAST("public"."reading"."hour" AS timestamp)) AS "hour", count(*) AS "count"
FROM "public"."reading" GROUP BY "public"."reading"."home", DATE_TRUNC('month', CAST("public"."reading"."hour" AS timestamp)) ORDER BY 1 ASC LIMIT 2000

--- metabase enums
SELECT nspname, typname FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE t.oid IN (SELECT DISTINCT e.enumtypid FROM pg_catalog.pg_enum e)

--- metabase timezone
SELECT current_setting('TIMEZONE') AS "_zone_"

--- metabase indexes
SELECT tmp.table_name, trim(both '"' from pg_catalog.pg_get_indexdef(tmp.ci_oid, tmp.pos, false)) AS field_name
FROM (SELECT tab.relname AS table_name, i.indexrelid AS ci_oid, (information_schema._pg_expandarray(i.indkey)).n AS pos
 FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class tab ON tab.oid = i.indrelid WHERE i.indpred IS NULL) AS tmp WHERE tmp.pos = 1
