/* Main of a fuzz target under an ordinary compiler: feeds it the files named on the command line. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (!file) {
            perror(argv[i]);
            return 2;
        }
        fseek(file, 0, SEEK_END);
        long n = ftell(file);
        rewind(file);
        uint8_t *data = malloc(n > 0 ? (size_t)n : 1);
        if (!data || fread(data, 1, (size_t)n, file) != (size_t)n) return 2;
        fclose(file);
        LLVMFuzzerTestOneInput(data, (size_t)n);
        free(data);
    }
    return 0;
}
