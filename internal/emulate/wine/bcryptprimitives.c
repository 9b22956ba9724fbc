// What Go programs need of bcryptprimitives.dll, and of Windows, that wine 8.0 lacks.
#include <string.h>
#include <windows.h>
#include <winternl.h>

// RtlGenRandom of <ntsecapi.h>, whose declaration there lacks the calling convention.
BOOLEAN NTAPI SystemFunction036(void *data, ULONG size);

// crypto/rand draws from it, and Go's runtime before main.
__declspec(dllexport) BOOL WINAPI ProcessPrng(BYTE *data, SIZE_T size)
{
	while (size > 0) {
		ULONG part = size < MAXDWORD ? (ULONG)size : MAXDWORD;
		if (!SystemFunction036(data, part))
			return FALSE;
		data += part;
		size -= part;
	}
	return TRUE;
}

#define NOT_IMPLEMENTED ((NTSTATUS)0xC0000002)
#define INVALID_INFO_CLASS ((NTSTATUS)0xC0000003)

static NTSTATUS(NTAPI *wines)(HANDLE, IO_STATUS_BLOCK *, void *, ULONG, int);

// os.RemoveAll asks Windows to remove files that are open, too, and does without where an older Windows says that
// there is no such class of information. Wine says that it is not implemented, which Go takes for a failure.
static NTSTATUS NTAPI set_information(HANDLE file, IO_STATUS_BLOCK *block, void *data, ULONG size, int class)
{
	NTSTATUS status = wines(file, block, data, size, class);
	return status == NOT_IMPLEMENTED ? INVALID_INFO_CLASS : status;
}

// Every Go program loads this library before it looks for functions of ntdll, so it finds ours in the table.
BOOL WINAPI DllMain(HINSTANCE self, DWORD reason, void *reserved)
{
	if (reason != DLL_PROCESS_ATTACH)
		return TRUE;
	BYTE *ntdll = (BYTE *)GetModuleHandleA("ntdll.dll");
	IMAGE_NT_HEADERS *headers = (IMAGE_NT_HEADERS *)(ntdll + ((IMAGE_DOS_HEADER *)ntdll)->e_lfanew);
	IMAGE_EXPORT_DIRECTORY *exports = (IMAGE_EXPORT_DIRECTORY *)
		(ntdll + headers->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXPORT].VirtualAddress);
	DWORD *names = (DWORD *)(ntdll + exports->AddressOfNames);
	WORD *ordinals = (WORD *)(ntdll + exports->AddressOfNameOrdinals);
	for (DWORD i = 0; i < exports->NumberOfNames; i++) {
		if (strcmp((char *)(ntdll + names[i]), "NtSetInformationFile") != 0)
			continue;
		DWORD *offset = (DWORD *)(ntdll + exports->AddressOfFunctions) + ordinals[i];
		ULONGLONG ours = (ULONGLONG)set_information - (ULONGLONG)ntdll;
		DWORD before;
		if (ours > MAXDWORD || !VirtualProtect(offset, sizeof *offset, PAGE_READWRITE, &before))
			return FALSE;
		wines = (void *)(ntdll + *offset);
		*offset = (DWORD)ours;
		return VirtualProtect(offset, sizeof *offset, before, &before);
	}
	return FALSE;
}
