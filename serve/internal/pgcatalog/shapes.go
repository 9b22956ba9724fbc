package pgcatalog

// shapes are the relations of PostgreSQL 15 that clients ask for. A line has the relation, the OID
// by which clients may know it, or 0, its kind, and its columns, each with the letter of its type
// (see types), in capitals in brackets if it is an array.
const shapes = `
pg_aggregate 2600 r aggfnoid:r aggkind:c aggnumdirectargs:s aggtransfn:r aggfinalfn:r aggtranstype:o agginitval:t
pg_am 2601 r oid:o amname:n amhandler:r amtype:c
pg_amop 2602 r oid:o amopfamily:o amoplefttype:o amoprighttype:o amopstrategy:s amoppurpose:c amopopr:o amopmethod:o amopsortfamily:o
pg_amproc 2603 r oid:o amprocfamily:o amproclefttype:o amprocrighttype:o amprocnum:s amproc:r
pg_attrdef 2604 r oid:o adrelid:o adnum:s adbin:T
pg_attribute 1249 r attrelid:o attname:n atttypid:o attstattarget:i attlen:s attnum:s attndims:i attcacheoff:i atttypmod:i attbyval:b attalign:c attstorage:c attcompression:c attnotnull:b atthasdef:b atthasmissing:b attidentity:c attgenerated:c attisdropped:b attislocal:b attinhcount:i attcollation:o attacl:[t] attoptions:[t] attfdwoptions:[t] attmissingval:[t]
pg_auth_members 1261 r roleid:o member:o grantor:o admin_option:b
pg_authid 1260 r oid:o rolname:n rolsuper:b rolinherit:b rolcreaterole:b rolcreatedb:b rolcanlogin:b rolreplication:b rolbypassrls:b rolconnlimit:i rolpassword:t rolvaliduntil:z
pg_available_extensions 0 v name:n default_version:t installed_version:t comment:t
pg_cast 2605 r oid:o castsource:o casttarget:o castfunc:o castcontext:c castmethod:c
pg_class 1259 r oid:o relname:n relnamespace:o reltype:o reloftype:o relowner:o relam:o relfilenode:o reltablespace:o relpages:i reltuples:f relallvisible:i reltoastrelid:o relhasindex:b relisshared:b relpersistence:c relkind:c relnatts:s relchecks:s relhasrules:b relhastriggers:b relhassubclass:b relrowsecurity:b relforcerowsecurity:b relispopulated:b relreplident:c relispartition:b relrewrite:o relfrozenxid:x relminmxid:x relacl:[t] reloptions:[t] relpartbound:T
pg_collation 3456 r oid:o collname:n collnamespace:o collowner:o collprovider:c collisdeterministic:b collencoding:i collcollate:t collctype:t colliculocale:t collversion:t
pg_constraint 2606 r oid:o conname:n connamespace:o contype:c condeferrable:b condeferred:b convalidated:b conrelid:o contypid:o conindid:o conparentid:o confrelid:o confupdtype:c confdeltype:c confmatchtype:c conislocal:b coninhcount:i connoinherit:b conkey:[s] confkey:[s] conpfeqop:[o] conppeqop:[o] conffeqop:[o] confdelsetcols:[s] conexclop:[o] conbin:T
pg_conversion 2607 r oid:o conname:n connamespace:o conowner:o conforencoding:i contoencoding:i conproc:r condefault:b
pg_cursors 0 v name:t statement:t is_holdable:b is_binary:b is_scrollable:b creation_time:z
pg_database 1262 r oid:o datname:n datdba:o encoding:i datlocprovider:c datistemplate:b datallowconn:b datconnlimit:i datfrozenxid:x datminmxid:x dattablespace:o datcollate:t datctype:t daticulocale:t datcollversion:t datacl:[t]
pg_db_role_setting 2964 r setdatabase:o setrole:o setconfig:[t]
pg_default_acl 826 r oid:o defaclrole:o defaclnamespace:o defaclobjtype:c defaclacl:[t]
pg_depend 2608 r classid:o objid:o objsubid:i refclassid:o refobjid:o refobjsubid:i deptype:c
pg_description 2609 r objoid:o classoid:o objsubid:i description:t
pg_enum 3501 r oid:o enumtypid:o enumsortorder:f enumlabel:n
pg_event_trigger 3466 r oid:o evtname:n evtevent:n evtowner:o evtfoid:o evtenabled:c evttags:[t]
pg_extension 3079 r oid:o extname:n extowner:o extnamespace:o extrelocatable:b extversion:t extconfig:[o] extcondition:[t]
pg_foreign_data_wrapper 2328 r oid:o fdwname:n fdwowner:o fdwhandler:o fdwvalidator:o fdwacl:[t] fdwoptions:[t]
pg_foreign_server 1417 r oid:o srvname:n srvowner:o srvfdw:o srvtype:t srvversion:t srvacl:[t] srvoptions:[t]
pg_foreign_table 3118 r ftrelid:o ftserver:o ftoptions:[t]
pg_group 0 v groname:n grosysid:o grolist:[o]
pg_index 2610 r indexrelid:o indrelid:o indnatts:s indnkeyatts:s indisunique:b indnullsnotdistinct:b indisprimary:b indisexclusion:b indimmediate:b indisclustered:b indisvalid:b indcheckxmin:b indisready:b indislive:b indisreplident:b indkey:S indcollation:V indclass:V indoption:S indexprs:T indpred:T
pg_indexes 0 v schemaname:n tablename:n indexname:n tablespace:n indexdef:t
pg_inherits 2611 r inhrelid:o inhparent:o inhseqno:i inhdetachpending:b
pg_keywords 0 v word:t catcode:c barelabel:b catdesc:t baredesc:t
pg_language 2612 r oid:o lanname:n lanowner:o lanispl:b lanpltrusted:b lanplcallfoid:o laninline:o lanvalidator:o lanacl:[t]
pg_largeobject_metadata 2995 r oid:o lomowner:o lomacl:[t]
pg_locks 0 v locktype:t database:o relation:o page:i tuple:s virtualxid:t transactionid:x classid:o objid:o objsubid:s virtualtransaction:t pid:i mode:t granted:b fastpath:b waitstart:z
pg_matviews 0 v schemaname:n matviewname:n matviewowner:n tablespace:n hasindexes:b ispopulated:b definition:t
pg_namespace 2615 r oid:o nspname:n nspowner:o nspacl:[t]
pg_opclass 2616 r oid:o opcmethod:o opcname:n opcnamespace:o opcowner:o opcfamily:o opcintype:o opcdefault:b opckeytype:o
pg_operator 2617 r oid:o oprname:n oprnamespace:o oprowner:o oprkind:c oprcanmerge:b oprcanhash:b oprleft:o oprright:o oprresult:o oprcom:o oprnegate:o oprcode:r oprrest:r oprjoin:r
pg_opfamily 2753 r oid:o opfmethod:o opfname:n opfnamespace:o opfowner:o
pg_parameter_acl 6243 r oid:o parname:t paracl:[t]
pg_partitioned_table 3350 r partrelid:o partstrat:c partnatts:s partdefid:o partattrs:S partclass:V partcollation:V partexprs:T
pg_policies 0 v schemaname:n tablename:n policyname:n permissive:t roles:[n] cmd:t qual:t with_check:t
pg_policy 3256 r oid:o polname:n polrelid:o polcmd:c polpermissive:b polroles:[o] polqual:T polwithcheck:T
pg_proc 1255 r oid:o proname:n pronamespace:o proowner:o prolang:o procost:f prorows:f provariadic:o prosupport:r prokind:c prosecdef:b proleakproof:b proisstrict:b proretset:b provolatile:c proparallel:c pronargs:s pronargdefaults:s prorettype:o proargtypes:V proallargtypes:[o] proargmodes:[c] proargnames:[t] proargdefaults:T protrftypes:[o] prosrc:t probin:t prosqlbody:T proconfig:[t] proacl:[t]
pg_publication 6104 r oid:o pubname:n pubowner:o puballtables:b pubinsert:b pubupdate:b pubdelete:b pubtruncate:b pubviaroot:b
pg_publication_namespace 6237 r oid:o pnpubid:o pnnspid:o
pg_publication_rel 6106 r oid:o prpubid:o prrelid:o prqual:T prattrs:S
pg_publication_tables 0 v pubname:n schemaname:n tablename:n attnames:[n] rowfilter:t
pg_range 3541 r rngtypid:o rngsubtype:o rngmultitypid:o rngcollation:o rngsubopc:o rngcanonical:r rngsubdiff:r
pg_rewrite 2618 r oid:o rulename:n ev_class:o ev_type:c ev_enabled:c is_instead:b ev_qual:T ev_action:T
pg_roles 0 v rolname:n rolsuper:b rolinherit:b rolcreaterole:b rolcreatedb:b rolcanlogin:b rolreplication:b rolconnlimit:i rolpassword:t rolvaliduntil:z rolbypassrls:b rolconfig:[t] oid:o
pg_rules 0 v schemaname:n tablename:n rulename:n definition:t
pg_seclabels 0 v objoid:o classoid:o objsubid:i objtype:t objnamespace:o objname:t provider:t label:t
pg_sequence 2224 r seqrelid:o seqtypid:o seqstart:l seqincrement:l seqmax:l seqmin:l seqcache:l seqcycle:b
pg_sequences 0 v schemaname:n sequencename:n sequenceowner:n data_type:o start_value:l min_value:l max_value:l increment_by:l cycle:b cache_size:l last_value:l
pg_settings 0 v name:t setting:t unit:t category:t short_desc:t extra_desc:t context:t vartype:t source:t min_val:t max_val:t enumvals:[t] boot_val:t reset_val:t sourcefile:t sourceline:i pending_restart:b
pg_shadow 0 v usename:n usesysid:o usecreatedb:b usesuper:b userepl:b usebypassrls:b passwd:t valuntil:z useconfig:[t]
pg_shdepend 1214 r dbid:o classid:o objid:o objsubid:i refclassid:o refobjid:o deptype:c
pg_shdescription 2396 r objoid:o classoid:o description:t
pg_stat_activity 0 v datid:o datname:n pid:i leader_pid:i usesysid:o usename:n application_name:t client_addr:t client_hostname:t client_port:i backend_start:z xact_start:z query_start:z state_change:z wait_event_type:t wait_event:t state:t backend_xid:x backend_xmin:x query_id:l query:t backend_type:t
pg_stat_all_tables 0 v relid:o schemaname:n relname:n seq_scan:l seq_tup_read:l idx_scan:l idx_tup_fetch:l n_live_tup:l n_dead_tup:l
pg_stat_database 0 v datid:o datname:n numbackends:i xact_commit:l xact_rollback:l blks_read:l blks_hit:l
pg_stat_ssl 0 v pid:i ssl:b version:t cipher:t bits:i client_dn:t client_serial:d issuer_dn:t
pg_stat_user_tables 0 v relid:o schemaname:n relname:n seq_scan:l seq_tup_read:l idx_scan:l idx_tup_fetch:l n_live_tup:l n_dead_tup:l
pg_statio_user_tables 0 v relid:o schemaname:n relname:n heap_blks_read:l heap_blks_hit:l
pg_statistic_ext 3381 r oid:o stxrelid:o stxname:n stxnamespace:o stxowner:o stxstattarget:i stxkeys:S stxkind:[c] stxexprs:T
pg_stats 0 v schemaname:n tablename:n attname:n inherited:b null_frac:f avg_width:i n_distinct:f
pg_subscription 6100 r oid:o subdbid:o subskiplsn:t subname:n subowner:o subenabled:b subbinary:b substream:b subtwophasestate:c subdisableonerr:b subconninfo:t subslotname:n subsynccommit:t subpublications:[t]
pg_tables 0 v schemaname:n tablename:n tableowner:n tablespace:n hasindexes:b hasrules:b hastriggers:b rowsecurity:b
pg_tablespace 1213 r oid:o spcname:n spcowner:o spcacl:[t] spcoptions:[t]
pg_timezone_names 0 v name:t abbrev:t utc_offset:t is_dst:b
pg_transform 3576 r oid:o trftype:o trflang:o trffromsql:r trftosql:r
pg_trigger 2620 r oid:o tgrelid:o tgparentid:o tgname:n tgfoid:o tgtype:s tgenabled:c tgisinternal:b tgconstrrelid:o tgconstrindid:o tgconstraint:o tgdeferrable:b tginitdeferred:b tgnargs:s tgattr:S tgargs:y tgqual:T tgoldtable:n tgnewtable:n
pg_ts_config 3602 r oid:o cfgname:n cfgnamespace:o cfgowner:o cfgparser:o
pg_ts_config_map 3603 r mapcfg:o maptokentype:i mapseqno:i mapdict:o
pg_ts_dict 3600 r oid:o dictname:n dictnamespace:o dictowner:o dicttemplate:o dictinitoption:t
pg_ts_parser 3601 r oid:o prsname:n prsnamespace:o prsstart:r prstoken:r prsend:r prsheadline:r prslextype:r
pg_ts_template 3764 r oid:o tmplname:n tmplnamespace:o tmplinit:r tmpllexize:r
pg_type 1247 r oid:o typname:n typnamespace:o typowner:o typlen:s typbyval:b typtype:c typcategory:c typispreferred:b typisdefined:b typdelim:c typrelid:o typsubscript:r typelem:o typarray:o typinput:r typoutput:r typreceive:r typsend:r typmodin:r typmodout:r typanalyze:r typalign:c typstorage:c typnotnull:b typbasetype:o typtypmod:i typndims:i typcollation:o typdefaultbin:T typdefault:t typacl:[t]
pg_user 0 v usename:n usesysid:o usecreatedb:b usesuper:b userepl:b usebypassrls:b passwd:t valuntil:z useconfig:[t]
pg_user_mapping 1418 r oid:o umuser:o umserver:o umoptions:[t]
pg_user_mappings 0 v umid:o srvid:o srvname:n umuser:o usename:n umoptions:[t]
pg_views 0 v schemaname:n viewname:n viewowner:n definition:t
information_schema.applicable_roles 0 v grantee:n role_name:n is_grantable:t
information_schema.character_sets 0 v character_set_catalog:n character_set_schema:n character_set_name:n character_repertoire:n form_of_use:n default_collate_catalog:n default_collate_schema:n default_collate_name:n
information_schema.check_constraints 0 v constraint_catalog:n constraint_schema:n constraint_name:n check_clause:t
information_schema.column_privileges 0 v grantor:n grantee:n table_catalog:n table_schema:n table_name:n column_name:n privilege_type:t is_grantable:t
information_schema.columns 0 v table_catalog:n table_schema:n table_name:n column_name:n ordinal_position:i column_default:t is_nullable:t data_type:t character_maximum_length:i character_octet_length:i numeric_precision:i numeric_precision_radix:i numeric_scale:i datetime_precision:i interval_type:t interval_precision:i character_set_catalog:n character_set_schema:n character_set_name:n collation_catalog:n collation_schema:n collation_name:n domain_catalog:n domain_schema:n domain_name:n udt_catalog:n udt_schema:n udt_name:n scope_catalog:n scope_schema:n scope_name:n maximum_cardinality:i dtd_identifier:n is_self_referencing:t is_identity:t identity_generation:t identity_start:t identity_increment:t identity_maximum:t identity_minimum:t identity_cycle:t is_generated:t generation_expression:t is_updatable:t
information_schema.constraint_column_usage 0 v table_catalog:n table_schema:n table_name:n column_name:n constraint_catalog:n constraint_schema:n constraint_name:n
information_schema.domains 0 v domain_catalog:n domain_schema:n domain_name:n data_type:t character_maximum_length:i numeric_precision:i numeric_scale:i domain_default:t udt_catalog:n udt_schema:n udt_name:n
information_schema.element_types 0 v object_catalog:n object_schema:n object_name:n object_type:t collection_type_identifier:n data_type:t
information_schema.enabled_roles 0 v role_name:n
information_schema.information_schema_catalog_name 0 v catalog_name:n
information_schema.key_column_usage 0 v constraint_catalog:n constraint_schema:n constraint_name:n table_catalog:n table_schema:n table_name:n column_name:n ordinal_position:i position_in_unique_constraint:i
information_schema.parameters 0 v specific_catalog:n specific_schema:n specific_name:n ordinal_position:i parameter_mode:t is_result:t as_locator:t parameter_name:n data_type:t udt_catalog:n udt_schema:n udt_name:n parameter_default:t
information_schema.referential_constraints 0 v constraint_catalog:n constraint_schema:n constraint_name:n unique_constraint_catalog:n unique_constraint_schema:n unique_constraint_name:n match_option:t update_rule:t delete_rule:t
information_schema.role_table_grants 0 v grantor:n grantee:n table_catalog:n table_schema:n table_name:n privilege_type:t is_grantable:t with_hierarchy:t
information_schema.routines 0 v specific_catalog:n specific_schema:n specific_name:n routine_catalog:n routine_schema:n routine_name:n routine_type:t data_type:t type_udt_catalog:n type_udt_schema:n type_udt_name:n routine_body:t routine_definition:t external_language:t is_deterministic:t security_type:t
information_schema.schemata 0 v catalog_name:n schema_name:n schema_owner:n default_character_set_catalog:n default_character_set_schema:n default_character_set_name:n sql_path:t
information_schema.sequences 0 v sequence_catalog:n sequence_schema:n sequence_name:n data_type:t numeric_precision:i numeric_precision_radix:i numeric_scale:i start_value:t minimum_value:t maximum_value:t increment:t cycle_option:t
information_schema.table_constraints 0 v constraint_catalog:n constraint_schema:n constraint_name:n table_catalog:n table_schema:n table_name:n constraint_type:t is_deferrable:t initially_deferred:t enforced:t nulls_distinct:t
information_schema.table_privileges 0 v grantor:n grantee:n table_catalog:n table_schema:n table_name:n privilege_type:t is_grantable:t with_hierarchy:t
information_schema.tables 0 v table_catalog:n table_schema:n table_name:n table_type:t self_referencing_column_name:n reference_generation:t user_defined_type_catalog:n user_defined_type_schema:n user_defined_type_name:n is_insertable_into:t is_typed:t commit_action:t
information_schema.triggers 0 v trigger_catalog:n trigger_schema:n trigger_name:n event_manipulation:t event_object_catalog:n event_object_schema:n event_object_table:n action_order:i action_condition:t action_statement:t action_orientation:t action_timing:t
information_schema.views 0 v table_catalog:n table_schema:n table_name:n view_definition:t check_option:t is_updatable:t is_insertable_into:t is_trigger_updatable:t is_trigger_deletable:t is_trigger_insertable_into:t
`
