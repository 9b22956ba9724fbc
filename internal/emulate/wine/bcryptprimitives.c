// The one function of bcryptprimitives.dll that Go programs call before they start, from which crypto/rand draws.
#include <windows.h>

// RtlGenRandom of <ntsecapi.h>, whose declaration there lacks the calling convention.
BOOLEAN NTAPI SystemFunction036(void *data, ULONG size);

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
