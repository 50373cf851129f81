#pragma once
/*
 * net_address: what kind of place an address of the network is.
 */
#include <stdbool.h>
#include <sys/socket.h>

/*
 * Whether an address is out in the internet: not this machine, not a private or link-local
 * network, not multicast or reserved, nor one of those in the dress of IPv6. What is neither IPv4
 * nor IPv6 is not.
 */
bool net_address_is_public(const struct sockaddr *address);
