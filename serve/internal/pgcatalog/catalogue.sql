-- The rows of pg_catalog and information_schema. ?1 is the catalogue as JSON, of which the schema facts has what the rows are
-- made from. The columns that are not named have the defaults of relations.txt.

CREATE TABLE facts.types AS SELECT value->>'OID' AS oid, value->>'Name' AS name, value->>'SQL' AS shown,
  value->>'Size' AS size, value->>'Array' AS array, char(value->>'Category') AS category FROM json_each(?1, '$.Types');

CREATE TABLE facts.relations AS SELECT value->>'OID' AS oid, value->>'Schema' AS schema, value->>'Name' AS name,
  value->>'Kind' AS kind, value->>'View' AS view, json_array_length(value, '$.Columns') AS natts,
  value->>'Columns' AS columns, value->>'Indexes' AS indexes, json_array_length(value, '$.Indexes') > 0 AS indexed,
  value->>'Constraints' AS constraints, value->>'Referring' AS referring, value->>'Schema' = 'public' AS public
  FROM json_each(?1, '$.Relations');

CREATE TABLE facts.columns AS SELECT r.oid AS relation, r.schema, r.name AS tbl, r.kind, c.key + 1 AS number,
  c.value->>'Name' AS name, c.value->>'Type' AS type, c.value->>'NotNull' AS required, c.value->>'Array' AS array,
  c.value->>'Sealed' AS sealed, c.value->>'Generated' AS generated FROM facts.relations r, json_each(r.columns) c;
CREATE INDEX facts.places ON columns(relation, number);

CREATE TABLE facts.indexes AS SELECT r.oid AS relation, r.name AS tbl, value->>'OID' AS oid, value->>'Name' AS name,
  value->>'Unique' AS uniq, value->>'Primary' AS prim, json_array_length(value, '$.Key') AS natts,
  replace(trim(value->'Key', '[]'), ',', ' ') AS columns, replace(trim(value->'Options', '[]'), ',', ' ') AS options,
  nullif(value->>'Expressions', '') AS expressions, nullif(value->>'Where', '') AS condition,
  value->>'Definition' AS definition FROM facts.relations r, json_each(r.indexes);

CREATE TABLE facts.constraints AS SELECT r.oid AS relation, r.name AS tbl, value->>'OID' AS oid, value->>'Name' AS name,
  value->>'Kind' AS kind, value->>'Index' AS idx, value->'Columns' AS columns, value->>'Other' AS other,
  value->'To' AS others, value->>'OnUpdate' AS onupdate, value->>'OnDelete' AS ondelete,
  value->>'Kind' = 'f' AS referring FROM facts.relations r, json_each(r.constraints);

-- The database, its schemas and its roles.
INSERT INTO pg_catalog.pg_namespace(oid, nspname)
  VALUES (11, 'pg_catalog'), (2200, 'public'), (13000, 'information_schema'), (13001, 'geosql');
INSERT INTO information_schema.schemata(catalog_name, schema_name)
  SELECT current_database(), nspname FROM pg_catalog.pg_namespace;
INSERT INTO pg_catalog.pg_database(oid, datname) VALUES (5, current_database());
INSERT INTO pg_catalog.pg_tablespace(oid, spcname) VALUES (1663, 'pg_default');
INSERT INTO pg_catalog.pg_authid(oid, rolname, rolcanlogin)
  SELECT 10, 'owner', current_user() = 'owner' UNION ALL
  SELECT 16384, current_user(), 1 WHERE current_user() <> 'owner';
INSERT INTO pg_catalog.pg_roles(oid, rolname, rolcanlogin) SELECT oid, rolname, rolcanlogin FROM pg_catalog.pg_authid;
INSERT INTO pg_catalog.pg_user(usesysid, usename) SELECT oid, rolname FROM pg_catalog.pg_authid WHERE rolcanlogin;
INSERT INTO information_schema.enabled_roles SELECT rolname FROM pg_catalog.pg_authid;
INSERT INTO information_schema.information_schema_catalog_name VALUES (current_database());
INSERT INTO information_schema.character_sets(character_set_name, character_repertoire, form_of_use,
  default_collate_catalog, default_collate_name)
  VALUES ('UTF8', 'UCS', 'UTF8', current_database(), 'C');
INSERT INTO pg_catalog.pg_am(oid, amname, amtype) VALUES (2, 'heap', 't'), (403, 'btree', 'i');
INSERT INTO pg_catalog.pg_collation(oid, collname) VALUES (100, 'default'), (950, 'C'), (951, 'POSIX');
INSERT INTO pg_catalog.pg_language(oid, lanname, lanpltrusted) VALUES (12, 'internal', 0), (14, 'sql', 1);
INSERT INTO pg_catalog.pg_description(objoid, classoid, description)
  SELECT key + 0, iif(key = '2200', 2615, 1247), value FROM json_each(?1, '$.Descriptions');
INSERT INTO pg_catalog.pg_settings(name, setting, category, boot_val, reset_val)
  SELECT key, value, 'Client Connection Defaults', value, value FROM json_each(?1, '$.Settings');
INSERT INTO pg_catalog.pg_keywords(word, baredesc) SELECT value, 'can be bare label' FROM json_each(?1, '$.Keywords');
INSERT INTO pg_catalog.pg_timezone_names VALUES ('UTC', 'UTC', '00:00:00', 0);
INSERT INTO pg_catalog.pg_stat_activity(datname, pid, usename, backend_type)
  VALUES (current_database(), pg_backend_pid(), current_user(), 'client backend');
INSERT INTO pg_catalog.pg_stat_database(datid, datname, numbackends) VALUES (5, current_database(), 1);

-- Functions and types.
INSERT INTO pg_catalog.pg_proc(oid, proname, prosrc, pronamespace, prokind, pronargs, prorettype, proargtypes)
  SELECT 15000 + key, value->>'Name', value->>'Name', iif(value->>'Kind' = '', 11, 2200),
  coalesce(nullif(value->>'Kind', ''), 'f'), value->>'$.Args[0]', value->>'Returns',
  trim(replace(hex(zeroblob(value->>'$.Args[0]')), '00', '2276 ')) FROM json_each(?1, '$.Functions');
INSERT INTO pg_catalog.pg_type(oid, typname, typnamespace, typlen, typbyval, typtype, typcategory, typispreferred,
  typelem, typarray, typcollation)
  SELECT oid, name, 11, size, size BETWEEN 1 AND 8, iif(category IN ('P', 'X'), 'p', 'b'), category,
  oid IN (16, 25, 701, 26), CASE name WHEN 'int2vector' THEN 21 WHEN 'oidvector' THEN 26 ELSE 0 END, array,
  iif(category = 'S', 100, 0) FROM facts.types;
INSERT INTO pg_catalog.pg_type(oid, typname, typnamespace, typtype, typcategory, typelem, typinput)
  SELECT array, '_' || name, 11, 'b', 'A', oid, pg_regproc('array_in') FROM facts.types WHERE array <> 0;
INSERT INTO pg_catalog.pg_type(oid, typname, typnamespace, typtype, typcategory, typbasetype)
  VALUES (16000, 'sealed', 2200, 'd', 'U', 17);
INSERT INTO pg_catalog.pg_type(oid, typname, typnamespace, typtype, typcategory, typrelid)
  SELECT oid + 1, name, 2200, 'c', 'C', oid FROM facts.relations WHERE public AND kind <> 'i';
INSERT INTO information_schema.domains(domain_catalog, domain_name, data_type, udt_catalog, udt_name)
  VALUES (current_database(), 'sealed', 'bytea', current_database(), 'bytea');

-- Tables and views.
INSERT INTO pg_catalog.pg_class(oid, relname, relnamespace, reltype, relam, relhasindex, relkind, relnatts, relhasrules,
  relhastriggers, relacl)
  SELECT r.oid, name, n.oid, iif(public AND kind <> 'i', r.oid + 1, 0),
  CASE kind WHEN 'r' THEN 2 WHEN 'i' THEN 403 ELSE 0 END, indexed, kind, natts, kind = 'v', referring,
  iif(public AND kind <> 'i', ?1->>'ACL', NULL) FROM facts.relations r
  JOIN pg_catalog.pg_namespace n ON nspname = schema;
INSERT INTO pg_catalog.pg_tables(schemaname, tablename, hasindexes)
  SELECT schema, name, indexed FROM facts.relations WHERE kind = 'r';
INSERT INTO pg_catalog.pg_views(schemaname, viewname, definition)
  SELECT schema, name, view FROM facts.relations WHERE kind = 'v';
INSERT INTO information_schema.tables(table_catalog, table_schema, table_name, table_type)
  SELECT current_database(), schema, name, iif(kind = 'v', 'VIEW', 'BASE TABLE') FROM facts.relations WHERE kind <> 'i';
INSERT INTO information_schema.views(table_catalog, table_schema, table_name, view_definition)
  SELECT current_database(), schemaname, viewname, definition FROM pg_catalog.pg_views;
INSERT INTO information_schema.table_privileges(grantee, table_catalog, table_schema, table_name)
  SELECT current_user(), current_database(), schema, name FROM facts.relations WHERE public AND kind <> 'i';
INSERT INTO information_schema.role_table_grants SELECT * FROM information_schema.table_privileges;

-- Columns. A sealed one is of a domain over bytea.
INSERT INTO pg_catalog.pg_attribute(attrelid, attname, atttypid, attlen, attnum, attndims, attbyval, attnotnull,
  attgenerated, attcollation)
  SELECT relation, c.name, type, coalesce(size, -1), number, c.array, coalesce(size BETWEEN 1 AND 8, 0), required,
  iif(generated, 's', ''), iif(category = 'S', 100, 0) FROM facts.columns c LEFT JOIN facts.types t ON t.oid = type;
INSERT INTO pg_catalog.pg_description(objoid, classoid, objsubid, description)
  SELECT relation, 1259, number, sealed FROM facts.columns WHERE sealed <> '';
INSERT INTO information_schema.columns(table_catalog, table_schema, table_name, column_name, ordinal_position,
  is_nullable, data_type, numeric_precision, numeric_precision_radix, numeric_scale, domain_catalog, domain_schema,
  domain_name, udt_catalog, udt_name, dtd_identifier, is_generated)
  SELECT current_database(), schema, tbl, c.name, number, iif(required, 'NO', 'YES'), coalesce(t.shown, 'ARRAY'),
  CASE t.name WHEN 'int2' THEN 16 WHEN 'int4' THEN 32 WHEN 'int8' THEN 64 WHEN 'float4' THEN 24 WHEN 'float8' THEN 53 END,
  CASE WHEN t.name IN ('int2', 'int4', 'int8', 'float4', 'float8') THEN 2 WHEN t.name = 'numeric' THEN 10 END,
  CASE WHEN t.name IN ('int2', 'int4', 'int8') THEN 0 END, iif(type = 16000, current_database(), NULL),
  iif(type = 16000, 'public', NULL), iif(type = 16000, 'sealed', NULL), current_database(),
  coalesce(t.name, '_' || e.name, '_text'), '' || number, iif(generated, 'ALWAYS', 'NEVER') FROM facts.columns c
  LEFT JOIN facts.types t ON t.oid = iif(type = 16000, 17, type) LEFT JOIN facts.types e ON e.array = type AND type <> 0
  WHERE kind <> 'i';
INSERT INTO information_schema.column_privileges(grantee, table_catalog, table_schema, table_name, column_name)
  SELECT current_user(), current_database(), schema, tbl, name FROM facts.columns
  WHERE schema = 'public' AND kind <> 'i';

-- Indexes and constraints.
INSERT INTO pg_catalog.pg_index(indexrelid, indrelid, indnatts, indnkeyatts, indisunique, indisprimary, indkey,
  indcollation, indclass, indoption, indexprs, indpred)
  SELECT oid, relation, natts, natts, uniq, prim, columns, replace(options, '3', '0'), replace(options, '3', '0'),
  options, expressions, condition FROM facts.indexes;
INSERT INTO pg_catalog.pg_indexes(schemaname, tablename, indexname, indexdef)
  SELECT 'public', tbl, name, definition FROM facts.indexes;
INSERT INTO pg_catalog.pg_constraint(oid, conname, contype, conrelid, conindid, confrelid, confupdtype, confdeltype,
  confmatchtype, conkey, confkey)
  WITH action(name, letter) AS (VALUES ('NO ACTION', 'a'), ('RESTRICT', 'r'), ('CASCADE', 'c'), ('SET NULL', 'n'),
  ('SET DEFAULT', 'd'), ('', ' '))
  SELECT oid, k.name, kind, relation, idx, other, u.letter, d.letter, iif(referring, 's', ' '), pg_array(columns),
  iif(referring, pg_array(others), NULL) FROM facts.constraints k JOIN action u ON u.name = onupdate
  JOIN action d ON d.name = ondelete;
INSERT INTO information_schema.table_constraints(constraint_catalog, constraint_schema, constraint_name, table_catalog,
  table_schema, table_name, constraint_type)
  SELECT current_database(), 'public', name, current_database(), 'public', tbl,
  CASE kind WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' ELSE 'FOREIGN KEY' END FROM facts.constraints;
INSERT INTO information_schema.key_column_usage(constraint_catalog, constraint_schema, constraint_name, table_catalog,
  table_schema, table_name, column_name, ordinal_position, position_in_unique_constraint)
  SELECT current_database(), 'public', k.name, current_database(), 'public', k.tbl, c.name, key + 1,
  iif(referring, key + 1, NULL) FROM facts.constraints k, json_each(k.columns)
  JOIN facts.columns c ON c.relation = k.relation AND number = value;
INSERT INTO information_schema.constraint_column_usage(table_catalog, table_schema, table_name, column_name,
  constraint_catalog, constraint_schema, constraint_name)
  SELECT current_database(), 'public', c.tbl, c.name, current_database(), 'public', k.name FROM facts.constraints k,
  json_each(iif(referring, others, k.columns))
  JOIN facts.columns c ON c.relation = iif(referring, other, k.relation) AND number = value;
INSERT INTO information_schema.referential_constraints(constraint_catalog, constraint_name, unique_constraint_catalog,
  unique_constraint_name, update_rule, delete_rule)
  SELECT current_database(), k.name, current_database(), x.name, onupdate, ondelete FROM facts.constraints k
  LEFT JOIN facts.indexes x ON x.oid = idx WHERE referring;
