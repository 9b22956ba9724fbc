#ifndef GEOSQL_POWERLOSS_VFS_H
#define GEOSQL_POWERLOSS_VFS_H

// Makes the recording VFS the default of the process, and undoes that. What was
// opened in between goes on through it.
int pl_install(void);
int pl_remove(void);

#endif
