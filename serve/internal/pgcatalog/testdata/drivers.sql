-- The constructs with which drivers ask for tables, columns and keys, in words of our own. A line
-- "-- $ a, b" has the parameters. {reading} stands for the OID of a table.

--- sqlalchemy columns
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), (SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d WHERE d.adrelid = a.attrelid) AS DEFAULT, a.attnotnull
FROM pg_catalog.pg_attribute a WHERE a.attrelid = {reading} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum

--- sqlalchemy key
SELECT a.attname FROM pg_attribute a JOIN (SELECT unnest(i.indkey) n, generate_subscripts(i.indkey, 1) place FROM pg_index i WHERE i.indrelid = {reading} AND i.indisprimary) k
ON a.attnum = k.n WHERE a.attrelid = {reading} ORDER BY k.place

--- sqlalchemy domains
SELECT t.typname, format_type(t.typbasetype, t.typtypmod), pg_type_is_visible(t.oid) FROM pg_type t WHERE t.typtype = 'd'

--- psycopg type
SELECT typname, oid::regtype::text AS shown FROM pg_type WHERE oid = $1::regtype
-- $ sealed

--- psycopg row
SELECT c.relname, array_agg(a.attname), coalesce(array_agg(a.atttypid), '{}') FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.oid = $1::regclass GROUP BY c.relname
-- $ reading

--- pgjdbc getPrimaryKeys
SELECT k.name, k.place FROM (SELECT a.attname AS name, a.attnum AS number, (information_schema._pg_expandarray(i.indkey)).n AS place, information_schema._pg_expandarray(i.indkey) AS pair
FROM pg_attribute a JOIN pg_index i ON a.attrelid = i.indrelid WHERE i.indrelid = {reading}) k WHERE k.number = (k.pair).x

--- pgjdbc getIndexInfo
SELECT trim(both '"' from pg_get_indexdef(s.oid, s.place, false)), CASE s.options[s.place - 1] & 1::smallint WHEN 1 THEN 'D' ELSE 'A' END
FROM (SELECT i.indexrelid AS oid, i.indoption AS options, (information_schema._pg_expandarray(i.indkey)).n AS place FROM pg_index i WHERE i.indrelid = {reading}) s

--- pgjdbc getImportedKeys
SELECT c.conname, p.n FROM pg_constraint c, pg_catalog.generate_series(1, 32) p(n), pg_attribute a WHERE a.attrelid = c.conrelid AND a.attnum = c.conkey[p.n] AND c.contype = 'f'

--- pgjdbc types
SELECT t.typname, t.typinput = 'pg_catalog.array_in'::regproc AS list FROM pg_type t LEFT JOIN (SELECT n.oid, r.r FROM pg_namespace n
JOIN (SELECT s.r, (current_schemas(false))[s.r] AS nspname FROM generate_series(1, array_upper(current_schemas(false), 1)) AS s(r)) AS r USING (nspname)) AS path ON path.oid = t.typnamespace
WHERE t.typname IN ('text', '_text', 'sealed') ORDER BY path.r, t.typname

--- pgjdbc getSQLKeywords
SELECT string_agg(word, ',') FROM pg_catalog.pg_get_keywords() WHERE word <> ALL ('{select,"from",as}')
