import java.io.StringWriter;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.Callable;
import org.postgresql.PGConnection;
import org.postgresql.util.PSQLException;

/** Checks of pgjdbc, reported in the form of the Test Anything Protocol. */
public class Checks {
    static int made;
    static Connection db;
    static DatabaseMetaData meta;

    /** Asks, and compares the answer, or "SQLSTATE: " and the message of an error, with what is wanted. A * at the end stands for any text. */
    static void check(String what, String want, Callable<Object> ask) {
        made++;
        String got, said = "";
        try {
            got = String.valueOf(ask.call());
        } catch (Exception e) {
            got = (e instanceof SQLException s ? s.getSQLState() : e.getClass().getName()) + ": " + e.getMessage();
            StringWriter trace = new StringWriter();
            e.printStackTrace(new PrintWriter(trace));
            said = trace.toString();
        }
        boolean right = want.endsWith("*") ? got.startsWith(want.substring(0, want.length() - 1)) : got.equals(want);
        System.out.println((right ? "ok - " : "not ok - ") + what);
        if (!right) {
            for (String line : ("got " + got + "\nwant " + want + "\n" + said).split("\n")) System.out.println("# " + line);
        }
    }

    /** Returns the named columns of all rows. */
    static String list(ResultSet rows, String... columns) throws SQLException {
        List<String> all = new ArrayList<>();
        while (rows.next()) {
            List<String> row = new ArrayList<>();
            for (String c : columns) row.add(rows.getString(c));
            all.add(String.join(" ", row));
        }
        return String.join(", ", all);
    }

    static int count(ResultSet rows) throws SQLException {
        int n = 0;
        while (rows.next()) n++;
        return n;
    }

    static String ask(Connection db, String sql) throws SQLException {
        try (Statement s = db.createStatement(); ResultSet rows = s.executeQuery(sql)) {
            List<String> all = new ArrayList<>();
            while (rows.next()) {
                List<String> row = new ArrayList<>();
                for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) row.add(rows.getString(i));
                all.add(String.join(" ", row));
            }
            return String.join(", ", all);
        }
    }

    static Connection connect(String... more) throws SQLException {
        Properties p = new Properties();
        p.setProperty("user", System.getenv("PGUSER"));
        p.setProperty("password", System.getenv("PGPASSWORD"));
        for (int i = 0; i < more.length; i += 2) p.setProperty(more[i], more[i + 1]);
        return DriverManager.getConnection("jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE"), p);
    }

    public static void main(String[] args) throws Exception {
        db = connect();
        meta = db.getMetaData();
        metadata();
        queries(db, "extended");
        try (Connection simple = connect("preferQueryMode", "simple")) {
            queries(simple, "simple");
        }
        try (Connection binary = connect("prepareThreshold", "-1")) { // binary at once
            queries(binary, "binary");
        }
        behaviour();
        System.out.println("1.." + made);
    }

    static void metadata() {
        check("product", "PostgreSQL 15.0", () -> meta.getDatabaseProductName() + " " + meta.getDatabaseProductVersion());
        check("getCatalogs", "open", () -> list(meta.getCatalogs(), "TABLE_CAT"));
        check("getSchemas", "geosql, information_schema, pg_catalog, public", () -> list(meta.getSchemas(), "TABLE_SCHEM"));
        check("getTableTypes", "true", () -> count(meta.getTableTypes()) > 5);
        check("getTables", "place TABLE, reading TABLE, sample TABLE, series TABLE, warm VIEW",
            () -> list(meta.getTables(null, "public", "%", new String[] {"TABLE", "VIEW"}), "TABLE_NAME", "TABLE_TYPE"));
        check("getTables of the catalogue", "pg_class SYSTEM TABLE", () -> list(meta.getTables(null, "pg_catalog", "pg_class", null), "TABLE_NAME", "TABLE_TYPE"));
        check("getColumns", "n int8 -5 0, x float8 8 0, s text 12 1, b bytea -2 1, place_id int8 -5 1",
            () -> list(meta.getColumns(null, "public", "series", "%"), "COLUMN_NAME", "TYPE_NAME", "DATA_TYPE", "NULLABLE"));
        check("getColumns of sealed columns", "home text 12, kwh sealed 2001, location sealed 2001, hour text 12, temperature float8 8, day int8 -5",
            () -> list(meta.getColumns(null, "public", "reading", null), "COLUMN_NAME", "TYPE_NAME", "DATA_TYPE"));
        check("getPrimaryKeys", "n 1 series_pkey", () -> list(meta.getPrimaryKeys(null, "public", "series"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME"));
        check("getPrimaryKeys of a table without", "", () -> list(meta.getPrimaryKeys(null, "public", "reading"), "COLUMN_NAME"));
        check("getIndexInfo", "series_pkey n f, series_by_place place_id t, series_by_place x t",
            () -> list(meta.getIndexInfo(null, "public", "series", false, false), "INDEX_NAME", "COLUMN_NAME", "NON_UNIQUE"));
        check("getImportedKeys", "place id series place_id", () -> list(meta.getImportedKeys(null, "public", "series"), "PKTABLE_NAME", "PKCOLUMN_NAME", "FKTABLE_NAME", "FKCOLUMN_NAME"));
        check("getExportedKeys", "series place_id", () -> list(meta.getExportedKeys(null, "public", "place"), "FKTABLE_NAME", "FKCOLUMN_NAME"));
        check("getCrossReference", "series place_id", () -> list(meta.getCrossReference(null, "public", "place", null, "public", "series"), "FKTABLE_NAME", "FKCOLUMN_NAME"));
        check("getTypeInfo", "true", () -> count(meta.getTypeInfo()) > 20);
        check("getSQLKeywords", "true", () -> meta.getSQLKeywords().length() > 0);
        check("getFunctions", "dx_value*", () -> list(meta.getFunctions(null, "public", "dx_value"), "FUNCTION_NAME"));
        check("getFunctionColumns", "true", () -> count(meta.getFunctionColumns(null, "public", "dx_value", "%")) > 0);
        check("getProcedures", "", () -> list(meta.getProcedures(null, "public", "%"), "PROCEDURE_NAME"));
        check("getProcedureColumns", "0", () -> count(meta.getProcedureColumns(null, "public", "nothing", "%")));
        check("getBestRowIdentifier", "n", () -> list(meta.getBestRowIdentifier(null, "public", "series", DatabaseMetaData.bestRowSession, true), "COLUMN_NAME"));
        check("getVersionColumns", "true", () -> count(meta.getVersionColumns(null, "public", "series")) >= 0);
        check("getTablePrivileges", "ann SELECT", () -> list(meta.getTablePrivileges(null, "public", "series"), "GRANTEE", "PRIVILEGE"));
        check("getColumnPrivileges", "true", () -> count(meta.getColumnPrivileges(null, "public", "series", "%")) >= 0);
        check("getUDTs", "sealed 2001*", () -> list(meta.getUDTs(null, "public", "%", null), "TYPE_NAME", "DATA_TYPE"));
        check("getClientInfoProperties", "ApplicationName", () -> list(meta.getClientInfoProperties(), "NAME"));
        check("getSuperTables", "0A000: *", () -> list(meta.getSuperTables(null, "public", "%")));
        check("limits", "63 32 0", () -> meta.getMaxColumnNameLength() + " " + meta.getMaxColumnsInIndex() + " " + meta.getMaxConnections() / 1000000);
        check("getUserName", "ann", () -> meta.getUserName());
        check("isReadOnly", "false", () -> meta.isReadOnly());
        check("getDefaultTransactionIsolation", "2", () -> meta.getDefaultTransactionIsolation());
    }

    static void queries(Connection db, String mode) {
        check(mode + ": a sum is private", "4995*", () -> ask(db, "SELECT dx_sum(kwh, 100) FROM reading"));
        check(mode + ": parameters", "1 2.5 it's null true 7", () -> {
            try (PreparedStatement s = db.prepareStatement("SELECT ?::bigint, ?::float8, ?, ?::text, ?::boolean, ?::bigint")) {
                for (int i = 0; i < 7; i++) { // the sixth uses what the server prepared
                    s.setInt(1, 1);
                    s.setDouble(2, 2.5);
                    s.setString(3, "it's");
                    s.setNull(4, Types.VARCHAR);
                    s.setBoolean(5, true);
                    s.setLong(6, 7);
                    try (ResultSet r = s.executeQuery()) {
                        r.next();
                        String got = r.getInt(1) + " " + r.getDouble(2) + " " + r.getString(3) + " " + r.getString(4) + " " + r.getBoolean(5) + " " + r.getLong(6);
                        if (i == 6) return got;
                    }
                }
                return "";
            }
        });
        check(mode + ": parameters in conditions", "8 1.0 text 8", () -> {
            try (PreparedStatement s = db.prepareStatement("SELECT n, x, s FROM series WHERE n > ? AND n < ? AND x = ? AND s = ?")) {
                s.setInt(1, 5);
                s.setLong(2, 20);
                s.setDouble(3, 1.0);
                s.setString(4, "text 8");
                try (ResultSet r = s.executeQuery()) {
                    r.next();
                    return r.getLong(1) + " " + r.getDouble(2) + " " + r.getString(3);
                }
            }
        });
        check(mode + ": an epsilon as a parameter", "4995.0", () -> {
            try (PreparedStatement s = db.prepareStatement("SELECT dx_sum(kwh, ?) FROM reading")) {
                s.setDouble(1, 100);
                try (ResultSet r = s.executeQuery()) {
                    r.next();
                    return r.getDouble(1);
                }
            }
        });
        check(mode + ": getBytes", "3", () -> {
            try (Statement s = db.createStatement(); ResultSet r = s.executeQuery("SELECT b FROM series WHERE n = 1")) {
                r.next();
                return r.getBytes(1).length;
            }
        });
        check(mode + ": getArray", "1", () -> {
            try (Statement s = db.createStatement(); ResultSet r = s.executeQuery("SELECT conkey FROM pg_constraint WHERE conname = 'place_pkey'")) {
                r.next();
                return ((Object[]) r.getArray(1).getArray())[0];
            }
        });
        check(mode + ": createArrayOf", "2", () -> {
            try (PreparedStatement s = db.prepareStatement("SELECT id FROM place WHERE id = ANY(?)")) {
                s.setArray(1, db.createArrayOf("bigint", new Object[] {1L, 3L}));
                return count(s.executeQuery());
            }
        });
        check(mode + ": getMetaData of a result", "n int8 java.lang.Long, total float8 java.lang.Double", () -> {
            try (PreparedStatement s = db.prepareStatement("SELECT n, x + 1.5 AS total FROM series LIMIT 1")) {
                var m = s.executeQuery().getMetaData();
                List<String> all = new ArrayList<>();
                for (int i = 1; i <= m.getColumnCount(); i++) {
                    all.add(m.getColumnName(i) + " " + m.getColumnTypeName(i) + " " + m.getColumnClassName(i));
                }
                return String.join(", ", all);
            }
        });
        check(mode + ": several statements", "1 2", () -> {
            try (Statement s = db.createStatement()) {
                s.execute("SELECT 1; SELECT 2");
                ResultSet a = s.getResultSet();
                a.next();
                int first = a.getInt(1);
                s.getMoreResults();
                ResultSet b = s.getResultSet();
                b.next();
                return first + " " + b.getInt(1);
            }
        });
        // In the simple protocol the driver has nothing to say it with, and PostgreSQL sends all rows too.
        check(mode + ": setMaxRows", mode.equals("simple") ? "100000" : "5", () -> {
            try (Statement s = db.createStatement()) {
                s.setMaxRows(5);
                return count(s.executeQuery("SELECT n FROM series"));
            }
        });
        check(mode + ": setFetchSize", "100000", () -> {
            db.setAutoCommit(false);
            try (Statement s = db.createStatement()) {
                s.setFetchSize(9000);
                return count(s.executeQuery("SELECT n, x, s FROM series"));
            } finally {
                db.rollback();
                db.setAutoCommit(true);
            }
        });
        check(mode + ": an error", "42703: ERROR: no such column: nope*", () -> ask(db, "SELECT nope FROM series"));
    }

    static void behaviour() throws SQLException {
        check("the columns of a statement before it runs", "1 dx_sum", () -> {
            try (PreparedStatement s = db.prepareStatement("SELECT dx_sum(kwh, ?) FROM reading")) {
                return s.getMetaData().getColumnCount() + " " + s.getMetaData().getColumnName(1);
            }
        });
        check("the parameters of a statement", "1 int8", () -> {
            try (PreparedStatement s = db.prepareStatement("SELECT name FROM place WHERE id = ?")) {
                return s.getParameterMetaData().getParameterCount() + " " + s.getParameterMetaData().getParameterTypeName(1);
            }
        });
        check("cancel", "57014: *", () -> {
            try (Statement s = db.createStatement()) {
                new Timer(true).schedule(new TimerTask() {
                    public void run() {
                        try {
                            s.cancel();
                        } catch (SQLException e) {
                            System.out.println("# " + e);
                        }
                    }
                }, 500);
                return count(s.executeQuery("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"));
            }
        });
        check("setQueryTimeout", "57014: *", () -> {
            try (Statement s = db.createStatement()) {
                s.setQueryTimeout(1);
                return count(s.executeQuery("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"));
            }
        });
        check("after cancel", "1", () -> ask(db, "SELECT 1"));
        check("a notice", "kwh is sealed*", () -> {
            try (Statement s = db.createStatement()) {
                s.executeQuery("SELECT kwh FROM reading LIMIT 1");
                return s.getWarnings().getMessage();
            }
        });
        check("setReadOnly, isolation, savepoints", "4 1", () -> {
            db.setReadOnly(true);
            db.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            db.setAutoCommit(false);
            var point = db.setSavepoint("a");
            try {
                ask(db, "SELECT nope");
            } catch (SQLException e) {
                db.rollback(point);
            }
            String got = db.getTransactionIsolation() + " " + ask(db, "SELECT 1");
            db.commit();
            db.setAutoCommit(true);
            db.setReadOnly(false);
            return got;
        });
        check("SET geosql.epsilon", "4995*", () -> {
            try (Statement s = db.createStatement()) {
                s.execute("SET geosql.epsilon = 100");
            }
            return ask(db, "SELECT sum(kwh) FROM reading");
        });
        check("an UPDATE", "25006: *", () -> {
            try (Statement s = db.createStatement()) {
                return s.executeUpdate("UPDATE place SET name = 'x'");
            }
        });
        check("isValid", "true", () -> db.isValid(5));
        check("getSchema", "public", () -> db.getSchema());
        check("COPY", "1\tParis\n", () -> {
            var out = new java.io.ByteArrayOutputStream();
            db.unwrap(PGConnection.class).getCopyAPI().copyOut("COPY (SELECT id, name FROM place WHERE id = 1) TO STDOUT", out);
            return out.toString("UTF-8");
        });
        check("a wrong password", "28P01: *", () -> connect("password", "wrong"));
        check("a role that is not there", "28P01: *", () -> connect("user", "nobody"));
        check("a refusal", "42501: *", () -> ask(connect("user", "poor"), "SELECT dx_sum(kwh, 0.45) FROM reading"));
    }
}
